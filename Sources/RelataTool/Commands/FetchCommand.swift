#if CommandLineTool
import ArgumentParser
import RelataCore
import RelataEngine

/// `relata fetch FILE ENTITY`
struct FetchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch", abstract: "Shows objects by conditions on their relationships, with related objects.",
        discussion: """
            Example:
              relata fetch chinook.sqlite Album --where 'artist.name == "AC/DC" AND tracks.@count > 5' \\
                --sort title --include artist,tracks.genre --format json

            A condition can compare values (== != < <= > >=), search text (CONTAINS, BEGINSWITH, ENDSWITH, LIKE, \
            MATCHES, with [cd] to ignore case and diacritics), test membership (IN {1, 2}, BETWEEN {1, 5}), test \
            whether ANY, ALL or NONE of the objects of a to-many meet a condition, and count them (tracks.@count). \
            Conditions are joined by AND, OR and NOT.
            """)

    /// The output format.
    enum Format: String, ExpressibleByArgument, CaseIterable { case table, json, csv }

    @OptionGroup var source: FileArgument
    @Argument(help: "The entity, such as Album.") var entity: String
    @Option(name: .customLong("where"), parsing: .unconditional, help: "The condition that the objects must meet.")
    var condition: String?
    @Option(
        parsing: .unconditional,
        help: "Paths and aggregates to sort by, such as artist.name,-tracks.@count; - for descending.")
    var sort: String?
    @Option(parsing: .unconditional, help: "The largest number of objects.") var limit: Int?
    @Option(help: "Relationships to load as well, such as artist,tracks.genre. May be given several times.")
    var include: [String] = []
    @Option(help: "table, json or csv.") var format = Format.table

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit \(limit) is negative: give a number of objects") }
    }

    func run() throws {
        let database = try ToolDatabase(
            source.file, naming: entity, runsConditions: condition != nil || sort != nil, followsAllKeys: true)
        let request = try FetchRequest(
            database, entity: entity, condition: condition, sort: sort, limit: limit,
            include: include.isEmpty ? nil : include.joined(separator: ","))
        let records = try Progress.during("fetching \(request.table.name)") { _ in
            try RecordFetcher(database.connection, schema: database.schema, access: .everything).fetch(
                request.plan, including: request.inclusions)
        }
        let output = RecordOutput(database.schema, request)
        switch format {
        case .table: for line in output.tableLines(records) { print(line) }
        case .csv: for line in output.csvLines(records) { print(line) }
        case .json: print(JSONWriter.indentedText(output.json(records)))
        }
    }
}
#endif
