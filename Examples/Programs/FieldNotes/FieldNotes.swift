// Notes of any kind, whose classes are known only when they are written:
//
//     swift run FieldNotes add Bird species=Robin count=2
//     swift run FieldNotes find Bird "count > 1"
//     swift run FieldNotes classes
import RelataRecords

@main struct FieldNotes {
    static func main() async throws {
        let store = try RecordStore.open("notes.sqlite")
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            switch (words.first, words.count) {
            case ("add", 3...):
                // The class is made by its first object, a field by its first value.
                var record = Record(words[1])
                for word in words.dropFirst(2) {
                    let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
                    guard parts.count == 2 else { return print("write \(word) as FIELD=VALUE") }
                    record[parts[0]] = Int(parts[1]).map { .integer($0) } ?? .text(parts[1])
                }
                try await store.save(record)
            case ("find", 2...3):
                let query = RecordQuery(words[1], where: words.count == 3 ? words[2] : nil, sort: "createdAt")
                let fields = try await store.classes.first { $0.name == words[1] }?.fields.map(\.name) ?? []
                let own = fields.filter { !["id", "createdAt", "updatedAt"].contains($0) }
                for record in try await store.fetch(query) {
                    print(own.map { "\($0): \(record[$0])" }.joined(separator: ", "))
                }
            case ("classes", 1):
                for recordClass in try await store.classes {
                    print(recordClass.name, recordClass.fields.map(\.name))
                }
            default:
                print("FieldNotes add CLASS FIELD=VALUE … | find CLASS [CONDITION] | classes")
            }
        } catch let error as RelataError {
            print(error)
        }
    }
}
