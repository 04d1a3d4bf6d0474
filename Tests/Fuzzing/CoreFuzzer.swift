// Text from outside may cause errors in the parsers of RelataCore, and nothing else. `Tests/Fuzzing/run` compiles this
// file with those of RelataCore as one module, under libFuzzer.
import Foundation

/// The entities of the tests, with a number that has a fraction and with JSON.
private let schema: Schema = {
    var entities = MusicEntities.all
    entities[1].properties += [
        .attribute(Attribute("more", type: .json)), .attribute(Attribute("weight", type: .real)),
    ]
    return try! Schema(entities)
}()

/// One input: JSON if it begins with a brace, otherwise a condition, which is compiled for both dialects.
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
            // A condition that can't be compiled is refused, which is correct.
            _ = try? QueryCompiler(schema: schema, access: .everything, dialect: dialect).select(plan)
        }
    } catch {
        if case .predicateFormat(_, let column, _) = error {
            precondition((1...text.count + 1).contains(column), "column \(column) of \(text.debugDescription)")
        }
    }
    return 0
}
