import RelataMacroExpansion
import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The compiler plug-in: the implementations of `@Model`, `@Shape` and their markers.
///
/// It only gives the macros their names, by which the compiler finds them in this module. The generating code is in
/// `RelataMacroExpansion`, which tests can import: a test that depends on a plug-in would make SwiftPM build every
/// library twice.
@main struct RelataPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        ModelMacro.self, AttributeMacro.self, RelationshipMacro.self, TransientMacro.self, UniqueMacro.self,
        IndexMacro.self, SearchMacro.self, ShapeMacro.self, ShapeMarkerMacro.self,
    ]
}

/// `@Model`.
public enum ModelMacro: ModelExpansion {}
/// `@Attribute`.
public enum AttributeMacro: MarkerExpansion {}
/// `@Relationship`.
public enum RelationshipMacro: MarkerExpansion {}
/// `@Transient`.
public enum TransientMacro: MarkerExpansion {}
/// `#Unique`.
public enum UniqueMacro: ListMarkerExpansion {}
/// `#Index`.
public enum IndexMacro: ListMarkerExpansion {}
/// `#Search`.
public enum SearchMacro: ListMarkerExpansion {}
/// `@Shape`.
public enum ShapeMacro: ShapeExpansion {}
/// `@Root`, `@From`, `@Count` and the other markers of a shape's properties.
public enum ShapeMarkerMacro: ShapeMarkerExpansion {}
