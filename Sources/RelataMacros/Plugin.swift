import SwiftCompilerPlugin
import SwiftSyntaxMacros
@main struct P: CompilerPlugin { let providingMacros: [Macro.Type] = [] }
