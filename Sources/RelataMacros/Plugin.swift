import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The compiler plug-in: what stands behind `@Model`, `@Shape` and their markers.
@main struct RelataPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        ModelMacro.self, AttributeMacro.self, RelationshipMacro.self, TransientMacro.self, UniqueMacro.self,
        IndexMacro.self, SearchMacro.self, ShapeMacro.self, ShapeMarkerMacro.self,
    ]
}
