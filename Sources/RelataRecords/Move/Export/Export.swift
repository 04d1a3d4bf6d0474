import Foundation
import RelataCore
import RelataEngine
import RelataSQLite

/// Writes the data of a transaction into files.
struct Export {
    let transaction: RecordTransaction
    let destination: DataDestination
    let format: DataFormat
    let replaces: Bool
    let progress: (DataProgress) -> Void

    /// Writes classes and lists.
    ///
    /// - Parameter names: The names of the classes and lists to write; none for all.
    func run(_ names: [String]) throws -> ExportReport {
        var report = ExportReport()
        let tables = try chosen(names, &report)
        let entities = tables.compactMap { if case .entity(let number) = $0.owner { number } else { nil } }
        try MovableTables.check(entities, of: transaction.schema, in: transaction.connection)
        switch destination {
        case .folder(let folder): try write(tables, into: folder, &report)
        case .file(let path):
            let single = try forOneFile(tables, &report)
            let output = DataOutput(try NewFile(path, replaces: replaces, like: source))
            try write(single, to: output, path, &report)
            try output.finish()
        case .standardOutput: try write(try forOneFile(tables, &report), to: DataOutput(), nil, &report)
        }
        return report
    }

    /// The exported file; `nil` for a store in memory or on a server.
    private var source: String? {
        let connection = transaction.connection
        return connection.dialect == .sqlite && !connection.path.isEmpty ? connection.path : nil
    }

    // MARK: Tables

    /// The classes of these names with the lists between them, and the lists of these names.
    private func chosen(_ names: [String], _ report: inout ExportReport) throws -> [MovedTable] {
        let tables = try MovedTable.tables(of: transaction.recordClasses)
        if names.isEmpty { return tables }
        var wanted: Set<MovedTable.Owner> = []
        for name in names {
            if let table = transaction.recordClasses.names.entity(name) {
                wanted.insert(.entity(table.index))
            } else if let list = tables.first(where: { $0.name == name }) {
                wanted.insert(list.owner)
            } else {
                throw RelataError.invalidUse(
                    "there is no class \(name)" + NameSuggestion.hint(for: name, among: tables.map(\.name)))
            }
        }
        for case .join(let number) in tables.map(\.owner) where !wanted.contains(.join(number)) {
            let join = transaction.schema.joins[number]
            let ends = [join.source, join.target].filter { wanted.contains(.entity($0)) }
            if ends.count == 2 { wanted.insert(.join(number)) }
            if ends.count == 1 {
                report.omittedLists.append("\(transaction.schema.tables[join.source].name).\(join.property)")
            }
        }
        return tables.filter { wanted.contains($0.owner) }
    }

    /// The tables that fit into one file.
    private func forOneFile(_ tables: [MovedTable], _ report: inout ExportReport) throws -> [MovedTable] {
        guard format == .csv, tables.count > 1 else { return tables }
        let classes = tables.filter { if case .entity = $0.owner { true } else { false } }
        guard classes.count == 1 else {
            throw RelataError.invalidUse(
                "a CSV file contains one class, and these are \(tables.count) tables: export to a folder, or name one class"
            )
        }
        report.omittedLists += tables.map(\.name).filter { $0 != classes[0].name }
        return classes
    }

    // MARK: Writing

    private func write(_ tables: [MovedTable], into folder: String, _ report: inout ExportReport) throws {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw RelataError.fileAccess(path: folder, "can't be made: check that its folder exists and is writable")
        }
        let paths = tables.map { (folder.hasSuffix("/") ? folder : folder + "/") + $0.fileName(format) }
        for path in paths { try NewFile.check(path, replaces: replaces) }
        // The files get their names after all are written.
        let parts = try PartFolder(
            in: URL(fileURLWithPath: folder).resolvingSymlinksInPath().path, for: folder)
        var outputs: [DataOutput] = []
        for (table, path) in zip(tables, paths) {
            let output = DataOutput(try NewFile(path, replaces: replaces, like: source, in: parts))
            outputs.append(output)
            try write([table], to: output, path, &report)
            try output.complete()
        }
        for output in outputs { try output.finish() }
    }

    private func write(
        _ tables: [MovedTable], to output: DataOutput, _ path: String?, _ report: inout ExportReport
    ) throws {
        for table in tables {
            switch format {
            case .jsonLines:
                if tables.count > 1 { try refuseClassMember(table) }
                let encoder = JSONLinesEncoder(table, className: tables.count > 1 ? table.name : nil)
                try write(table, by: encoder, to: output, path, &report)
            case .csv: try write(table, by: CSVEncoder(table), to: output, path, &report)
            }
        }
    }

    private func refuseClassMember(_ table: MovedTable) throws(RelataError) {
        guard table.fields.contains(where: { $0.name == JSONLinesEncoder.classMember }) else { return }
        throw .invalidUse(
            "\(table.name) has a field \(JSONLinesEncoder.classMember), which names the class if several are in one file: export to a folder"
        )
    }

    private func write<Encoder: RowEncoder>(
        _ table: MovedTable, by encoder: Encoder, to output: DataOutput, _ path: String?, _ report: inout ExportReport
    ) throws {
        var encoder = encoder
        let connection = transaction.connection
        // The order of keys, so that two exports of equal data are equal files.
        let cursor = try RowCursor(
            table.copied.rows(connection.dialect, after: nil), on: connection, isStreamed: true)
        defer { cursor.close() }
        encoder.begin()
        var rows = 0
        var misfits = Array(repeating: 0, count: table.fields.count)
        while let row = try cursor.next() {
            let values = table.copied.values(row)
            for (place, field) in table.fields.enumerated() where !field.fits(values[place]) { misfits[place] += 1 }
            encoder.add(values)
            rows += 1
            if encoder.bytes.count >= 1 << 17 {
                try output.write(encoder.bytes)
                encoder.clear()
            }
            if rows.isMultiple(of: DataProgress.step) { progress(DataProgress(name: table.name, rows: rows)) }
        }
        try output.write(encoder.bytes)
        progress(DataProgress(name: table.name, rows: rows))
        report.parts.append(ExportReport.Part(name: table.name, path: path, rows: rows))
        for (field, count) in zip(table.fields, misfits) where count > 0 {
            report.misfits["\(table.name).\(field.name)"] = count
        }
    }
}
