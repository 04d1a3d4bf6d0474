#if Server
import Foundation
import NIOCore
import RelataParse
import RelataCore
import Synchronization

/// The slowest requests of the last hour, without values: of parameters, only their structure.
final class SlowRequests: Sendable {
    private struct Entry {
        let time: Date
        let instant: NIODeadline
        let duration: TimeAmount
        let method: String
        let target: String
        let status: Int
    }

    /// Faster requests aren't recorded.
    static let threshold = TimeAmount.milliseconds(10)
    static let maximumCount = 100
    private static let lifetime = TimeAmount.hours(1)

    /// The slowest first.
    private let entries = Mutex<[Entry]>([])

    /// Records a request if it was slow.
    func note(method: String, path: Substring, query: Substring, status: Int, duration: TimeAmount) {
        guard duration >= Self.threshold else { return }
        let entry = Entry(
            time: Date(), instant: .now(), duration: duration, method: method,
            target: RequestShape.text(path: path, query: query), status: status)
        entries.withLock { entries in
            Self.removeOld(&entries)
            let place = entries.firstIndex { $0.duration < duration } ?? entries.count
            guard place < Self.maximumCount else { return }
            entries.insert(entry, at: place)
            if entries.count > Self.maximumCount { entries.removeLast() }
        }
    }

    /// `{"results": [{"at": "…", "milliseconds": 41.2, "method": "GET", "target": "/parse/classes/Book?…", "status":
    /// 200}]}`
    var json: JSONValue {
        let all = entries.withLock { entries in
            Self.removeOld(&entries)
            return entries
        }
        return [
            "results": .array(
                all.map { entry in
                    [
                        "at": .string(DateText.parseText(entry.time)),
                        "milliseconds": .double(Double(entry.duration.nanoseconds / 1000) / 1000),
                        "method": .string(entry.method), "target": .string(entry.target),
                        "status": .integer(Int64(entry.status)),
                    ]
                })
        ]
    }

    private static func removeOld(_ entries: inout [Entry]) {
        let oldest = NIODeadline.now() - lifetime
        entries.removeAll { $0.instant < oldest }
    }
}

/// The structure of a request: names of classes, fields and operators stay, values are removed.
enum RequestShape {
    /// Parameters whose values are names and positions, not data.
    private static let plain: Set<Substring> = [
        "order", "keys", "include", "excludeKeys", "limit", "skip", "count", "distinct", "explain", "deletionPlan",
    ]
    private static let maximumLength = 1000

    static func text(path: Substring, query: Substring) -> String {
        var parts = path.split(separator: "/", omittingEmptySubsequences: false)
        if let classes = parts.firstIndex(of: "classes"), parts.count > classes + 2 { parts[classes + 2] = "…" }
        let parameters = query.split(separator: "&").prefix(20).map { pair -> String in
            let sides = pair.split(separator: "=", maxSplits: 1)
            guard let name = sides.first else { return "" }
            guard sides.count == 2 else { return String(name) }
            let text = sides[1].replacing("+", with: " ").removingPercentEncoding ?? ""
            if plain.contains(name) { return "\(name)=\(text)" }
            if name == "predicate" { return "\(name)=\(predicate(text))" }
            // A search for JSON is a search for its words.
            guard name != "search", let json = try? JSONParser.parse(Array(text.utf8)) else { return "\(name)=…" }
            return "\(name)=\(JSONWriter.text(shape(json)))"
        }
        let target = parts.joined(separator: "/") + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
        return String(target.prefix(maximumLength))
    }

    /// JSON without its values.
    private static func shape(_ json: JSONValue) -> JSONValue {
        switch json {
        case .object(let members): .object(JSONObject(members.map { ($0.key, shape($0.value)) }))
        // One element shows the structure of a list.
        case .array(let elements): .array(elements.prefix(1).map(shape))
        default: "…"
        }
    }

    /// The text of a condition without its values.
    private static func predicate(_ text: String) -> String {
        var result = ""
        var quote: Character?
        var isEscaped = false
        for character in text {
            if let open = quote {
                if isEscaped {
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if character == open {
                    quote = nil
                    result.append("…")
                }
            } else if character == "\"" || character == "'" {
                quote = character
            } else if character.isNumber, let last = result.last, !(last.isLetter || last == "_" || last == "`") {
                if last != "#" { result.append("#") }
            } else if character.isNumber, result.isEmpty {
                result.append("#")
            } else {
                result.append(character)
            }
        }
        return quote == nil ? result : result + "…"
    }
}
#endif
