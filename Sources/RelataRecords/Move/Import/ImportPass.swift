import Foundation
import RelataCore
import RelataEngine

/// Imports files within one transaction: all of them, or the next batch.
final class ImportPass {
    let transaction: RecordWriteTransaction
    let options: ImportOptions
    let content: ImportFiles
    private let progress: (DataProgress) -> Void
    private let badRow: (BadRow) -> Void
    /// By the numbers of their tables, in the order in which they came.
    private(set) var writers: [Int: ImportWriter] = [:]
    private var writerOrder: [Int] = []
    private var readers: [Int: RowReader] = [:]
    /// The rows that are written next, all of one table.
    private var pending: [ImportedRow] = []
    private var pendingTable = 0
    private var pendingSize = 0
    private var report = ImportReport()
    /// The positions of bad rows, which look-ups of an object's line skip.
    private var badPlaces: Set<Place> = []
    /// The rows that were written.
    private(set) var written = WrittenRows(after: 0)
    /// The lists whose number of members may have changed.
    private(set) var counts = CountCheck()

    private struct Place: Hashable {
        let file, line: Int
    }

    /// The number of rows written at once, and the approximate number of bytes.
    private static let batch = (rows: 1000, bytes: 4 << 20)

    init(
        _ files: [ImportedFile], _ options: ImportOptions, in transaction: RecordWriteTransaction,
        _ listener: ImportListener
    ) throws {
        self.transaction = transaction
        self.options = options
        progress = listener.progress
        badRow = listener.badRow
        if options.createsClasses { report.createdClasses = try Self.makeClasses(of: files, in: transaction) }
        content = try ImportFiles(files, transaction.recordClasses)
        let entities = content.files.compactMap(\.table).compactMap {
            if case .entity(let number) = content.tables[$0].owner { number } else { nil }
        }
        try MovableTables.check(Set(entities).sorted(), of: transaction.schema, in: transaction.connection)
    }

    /// Creates the missing classes of files.
    private static func makeClasses(
        of files: [ImportedFile], in transaction: RecordWriteTransaction
    ) throws -> [String] {
        let tables = try MovedTable.tables(of: transaction.recordClasses)
        var made: [String] = []
        for file in files where ImportFiles.table(of: file, tables, transaction.recordClasses) == nil {
            let entity = try ClassGuess.entity(for: file)
            try transaction.define { (entities) throws(RelataError) in
                try entities.all.checkName(ofNewClass: entity.name)
                entities.append(entity)
            }
            made.append(entity.name)
        }
        return made
    }

    // MARK: Running

    /// Imports what follows a place.
    ///
    /// - Returns: The results, and the position after them.
    func run(from start: ImportPlace, rows limit: Int?) throws -> (report: ImportReport, place: ImportPlace) {
        let wait = try ForeignKeyWait(on: transaction.connection)
        do {
            written = WrittenRows(after: start.rows)
            let place = try forEachRow(from: start, rows: limit) { try take($0, of: $1, $2) }
            try flush()
            try ImportSettlement(self, wait, from: start, to: place).run()
            try moveKeysOn()
            if report.badRowCount == 0 || options.skipsBadRows { try wait.end() }
            report.parts = writerOrder.compactMap { writers[$0]?.part }
            return (report, place)
        } catch {
            wait.cancel()
            throw error
        }
    }

    /// Reads the rows after a position, good or bad.
    ///
    /// - Returns: The position after them.
    func forEachRow(
        from start: ImportPlace, rows limit: Int?,
        _ body: (RowResult, _ source: any RowSource, _ place: ImportPlace) throws -> Void
    ) throws -> ImportPlace {
        var place = start
        while place.file < content.files.count {
            let source = try source(at: place)
            while let result = try source.next() {
                place.rows += 1
                try body(result, source, place)
                if place.rows.isMultiple(of: 1000) { try Task.checkCancellation() }
                guard let limit, place.rows - start.rows >= limit else { continue }
                (place.byte, place.line) = (source.input.place, source.line)
                place.fingerprint = source.input.fingerprint(before: place.byte)
                return place
            }
            (place.file, place.byte, place.line) = (place.file + 1, 0, 1)
        }
        place.isDone = true
        return place
    }

    private func source(at place: ImportPlace) throws -> any RowSource {
        let source = try content.source(place.file)
        guard place.byte > 0 else { return source }
        guard source.input.fingerprint(before: place.byte) == place.fingerprint else {
            throw RelataError.invalidUse(
                "\(source.input.name) was changed within the 4 KB before line \(place.line), up to which it is already imported: restore the earlier file, and call the import again"
            )
        }
        try source.seek(to: place.byte, line: place.line)
        return source
    }

    private func take(_ result: RowResult, of source: any RowSource, _ place: ImportPlace) throws {
        switch result {
        case .problem(let problem, let table, let line):
            try refuse(problem, table: table, file: place.file, line: line)
        case .row(let raw):
            guard let row = try row(raw, of: source, place) else { return }
            // The waiting rows all belong to one table.
            if pendingTable != raw.table { try flush() }
            pendingTable = raw.table
            pending.append(row)
            pendingSize += row.values.reduce(0) { $0 + $1.size }
            if pending.count >= Self.batch.rows || pendingSize >= Self.batch.bytes { try flush() }
        }
    }

    /// A row that can be stored; `nil` for one that is bad.
    private func row(_ raw: RawRow, of source: any RowSource, _ place: ImportPlace) throws -> ImportedRow? {
        let reader = reader(of: raw.table)
        do throws(RowProblem) {
            return try source.input.bytes.withUnsafeBufferPointer { bytes throws(RowProblem) in
                try reader.row(raw, in: bytes, file: place.file, number: place.rows)
            }
        } catch {
            try refuse(error, table: raw.table, file: place.file, line: raw.line)
            return nil
        }
    }

    func reader(of table: Int) -> RowReader {
        if let known = readers[table] { return known }
        let reader = RowReader(
            table: content.tables[table], dialect: transaction.connection.dialect, objectIDs: transaction.objectIDs,
            now: transaction.now)
        readers[table] = reader
        return reader
    }

    func writer(of table: Int) -> ImportWriter {
        if let known = writers[table] { return known }
        let writer = ImportWriter(content.tables[table], transaction, options.onConflict)
        writers[table] = writer
        writerOrder.append(table)
        return writer
    }

    /// Writes the rows that wait.
    private func flush() throws {
        if pending.isEmpty { return }
        let writer = writer(of: pendingTable)
        let before = writer.part.rows
        let rows = try writer.write(pending, now: transaction.now) { row, problem in
            try refuse(problem, table: pendingTable, file: row.file, line: row.line)
        }
        for row in rows { written.insert(row.number) }
        if transaction.schema.hasCounts { noteCounts(of: rows, writer.table) }
        pending.removeAll(keepingCapacity: true)
        pendingSize = 0
        if writer.part.rows / DataProgress.step > before / DataProgress.step {
            progress(DataProgress(name: writer.table.name, rows: writer.part.rows))
        }
    }

    /// Records the lists that may have too few or too many members now.
    private func noteCounts(of rows: [ImportedRow], _ table: MovedTable) {
        let schema = transaction.schema
        switch table.owner {
        case .entity(let number):
            let places = schema.references(of: number).map { reference in
                (
                    reference,
                    reference.columns.compactMap { name in table.copied.columns.firstIndex { $0.name == name } }
                )
            }
            for row in rows {
                counts.noteObject(table.key(row.values), schema.tables[number])
                for (reference, columns) in places {
                    let owner = columns.map { row.values[$0] }
                    if !owner.contains(.null) { counts.noteOwner(KeyValue(owner), of: reference, in: schema) }
                }
            }
        case .join(let number):
            let join = schema.joins[number]
            for row in rows {
                let key = table.key(row.values).values
                let width = join.sourceColumns.count
                counts.noteSides(of: join, KeyValue(Array(key[..<width])), KeyValue(Array(key[width...])))
            }
        }
    }

    /// Ensures that the database doesn't assign keys that imported rows already have.
    private func moveKeysOn() throws {
        let connection = transaction.connection
        for writer in writers.values where writer.part.inserted > 0 {
            guard let key = writer.table.copied.assignedKey else { continue }
            let last = try connection.driver.lastAssignedKey(of: writer.table.copied.table, connection)
            try connection.driver.assignKeys(after: last, of: writer.table.copied.table, column: key, connection)
        }
    }

    // MARK: Bad rows

    /// Records a bad row.
    ///
    /// - Parameter line: `nil` if it isn't known.
    func refuse(_ problem: RowProblem, table: Int?, file: Int, line: Int?) throws {
        try Task.checkCancellation()
        let row = BadRow(
            file: content.files[file].file.name, line: line, className: table.map { content.tables[$0].name },
            field: problem.field, reason: problem.reason)
        report.badRowCount += 1
        if report.badRows.count < ImportReport.listedRows {
            report.badRows.append(row)
            badRow(row)
        }
        if let table { writer(of: table).part.bad += 1 }
        if let line { badPlaces.insert(Place(file: file, line: line)) }
    }

    /// Whether the row on a line is a bad one.
    func isBad(file: Int, line: Int) -> Bool { badPlaces.contains(Place(file: file, line: line)) }
}

extension ImportReport.Part {
    /// The number of rows it has read.
    fileprivate var rows: Int { inserted + updated + skipped + bad }
}
