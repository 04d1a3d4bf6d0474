// What a text from outside may do to the parsers of RelataCore: nothing but give an error. `Tests/Fuzzing/run` compiles this
// file with those of RelataCore as one module, under libFuzzer.
import Foundation

/// Entities with every type of attribute and every kind of relationship.
private let schema: Schema = try! Schema([
    Entity(
        name: "Artist",
        properties: [
            .attribute(Attribute("id", type: .text)), .attribute(Attribute("name", column: "Name", type: .text)),
            .relationship(Relationship("albums", target: "Album", kind: .toMany(inverse: "artist"))),
        ]),
    Entity(
        name: "Album",
        properties: [
            .attribute(Attribute("id", type: .integer)), .attribute(Attribute("title", type: .text)),
            .attribute(Attribute("price", type: .decimal)), .attribute(Attribute("released", type: .date(.iso8601))),
            .attribute(Attribute("isLive", type: .boolean)), .attribute(Attribute("code", type: .uuid(.text))),
            .attribute(Attribute("in", type: .integer)), .attribute(Attribute("odd name", type: .integer)),
            .attribute(Attribute("more", type: .json)), .attribute(Attribute("weight", type: .real)),
            .relationship(
                Relationship("artist", target: "Artist", kind: .toOne(isOptional: true, columns: ["ArtistId"]))),
            .relationship(Relationship("tracks", target: "Track", kind: .toMany(inverse: "album"))),
            .relationship(Relationship("tags", target: "Tag", kind: .manyToMany())),
        ]),
    Entity(
        name: "Track",
        properties: [
            .attribute(Attribute("id", type: .integer)), .attribute(Attribute("title", type: .text)),
            .attribute(Attribute("length", type: .integer)),
            .relationship(Relationship("album", target: "Album", kind: .toOne(isOptional: false))),
        ]),
    Entity(
        name: "Tag",
        properties: [
            .attribute(Attribute("first", type: .text)), .attribute(Attribute("second", type: .integer)),
        ], key: ["first", "second"]),
])

/// One input: JSON where it begins with a brace, else a condition, which is compiled for both dialects.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    if bytes.first == UInt8(ascii: "{") {
        _ = JSONScanner.isJSON(bytes, depth: 64)
        return 0
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { return 0 }
    do throws(RelataError) {
        let condition = try PredicateFormat.parse(
            text, arguments: [.value(.integer(1)), .value(.text("x")), .value(.null)], entity: "Album", schema: schema)
        let plan = QueryPlan(entity: "Album", condition: condition, limit: 3)
        for dialect in [Dialect.sqlite, .postgres] {
            // What can't be compiled is refused, which is no fault.
            _ = try? QueryCompiler(schema: schema, access: .everything, dialect: dialect).select(plan)
        }
    } catch {
        if case .predicateFormat(_, let column, _) = error {
            precondition((1...text.count + 1).contains(column), "column \(column) of \(text.debugDescription)")
        }
    }
    return 0
}
