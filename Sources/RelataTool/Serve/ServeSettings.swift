#if CommandLineTool && Server
import ArgumentParser
import Foundation
import RelataCore
import RelataEngine
import RelataParse

/// The settings of a server from all sources: flags override environment variables, which override the file.
struct ServeSettings {
    /// A value, and its source.
    private struct Given {
        let text: String
        let place: String
    }

    private var given: [ServeSetting: Given] = [:]
    /// The configuration file, which may contain keys.
    let configurationFile: String?

    /// - Throws: ``RelataError`` for a configuration file that can't be read, or with an unknown name.
    init(flags: [ServeSetting: String], environment: [String: String], configurationFile: String?) throws {
        self.configurationFile = configurationFile
        if let configurationFile { try read(configurationFile) }
        for setting in ServeSetting.allCases {
            if let text = environment[setting.variable] { given[setting] = Given(text: text, place: setting.variable) }
        }
        for (setting, text) in flags { given[setting] = Given(text: text, place: setting.flag) }
    }

    private mutating func read(_ path: String) throws {
        try RegularFile.check(path, for: "a configuration")
        guard let data = FileManager.default.contents(atPath: path) else {
            throw RelataError.fileAccess(path: path, "can't be read as a configuration file")
        }
        let value: JSONValue
        do {
            value = try JSONParser.parse(data)
        } catch {
            throw RelataError.fileAccess(path: path, "isn't a configuration file: \(error.message)")
        }
        guard let members = value.object else {
            throw RelataError.fileAccess(path: path, "isn't a configuration file: it must be a JSON object")
        }
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            guard let setting = ServeSetting(rawValue: name) else {
                let hint = NameSuggestion.hint(for: name, among: ServeSetting.allCases.map(\.rawValue))
                throw RelataError.fileAccess(path: path, "there is no setting \(name)\(hint)")
            }
            guard let text = Self.text(value) else {
                throw RelataError.fileAccess(
                    path: path, "\(name) must be text, a number, true, false, or a list of texts")
            }
            given[setting] = Given(text: text, place: "\(name) in \(path)")
        }
    }

    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text): return text
        case .integer(let number): return String(number)
        case .double(let number): return String(number)
        case .bool(let value): return String(value)
        case .array(let elements):
            let texts = elements.compactMap(\.string)
            return texts.count == elements.count ? texts.joined(separator: ",") : nil
        case .null, .object: return nil
        }
    }

    // MARK: Values

    func text(_ setting: ServeSetting) -> String? { given[setting]?.text }

    func integer(_ setting: ServeSetting) throws -> Int? {
        try value(setting, "a whole number") { Int($0) }
    }

    /// `512`, `64K`, `20M`, `1G`.
    func bytes(_ setting: ServeSetting) throws -> Int? {
        try value(setting, "a number of bytes such as 500000, 64K or 20M") { text in
            let units = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
            guard let last = text.last, let unit = units[last.uppercased()] else { return Int(text) }
            let (bytes, isOverflow) = (Int(text.dropLast()) ?? -1).multipliedReportingOverflow(by: unit)
            return bytes < 0 || isOverflow ? nil : bytes
        }
    }

    /// A number of seconds, which may have a fraction.
    func seconds(_ setting: ServeSetting) throws -> Duration? {
        try value(setting, "a number of seconds") { text in
            Double(text).flatMap { $0.isFinite && abs($0) < 1_000_000 ? .milliseconds(Int($0 * 1000)) : nil }
        }
    }

    /// A time with an optional unit, in seconds: `3600`, `90m`, `12h`, `30d`.
    func lifetime(_ setting: ServeSetting) throws -> Double? {
        try value(setting, "a time such as 3600, 90m, 12h or 30d") { text in
            let units = ["s": 1.0, "m": 60, "h": 3600, "d": 86_400]
            let unit = text.last.flatMap { units[$0.lowercased()] }
            guard let number = Double(unit == nil ? text : String(text.dropLast())), number.isFinite else { return nil }
            return number * (unit ?? 1)
        }
    }

    func isOn(_ setting: ServeSetting) throws -> Bool {
        try value(setting, "true or false") { ["true": true, "1": true, "false": false, "0": false][$0.lowercased()] }
            ?? false
    }

    func list(_ setting: ServeSetting) -> [String]? {
        text(setting)?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ setting: ServeSetting) throws -> Choice? {
        let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return try value(setting, "one of \(names)") { Choice(rawValue: $0.lowercased()) }
    }

    private func value<Value>(_ setting: ServeSetting, _ kind: String, _ read: (String) -> Value?) throws -> Value? {
        guard let given = given[setting] else { return nil }
        if let value = read(given.text) { return value }
        throw ValidationError("\(given.place) must be \(kind), not \(given.text)")
    }
}
#endif
