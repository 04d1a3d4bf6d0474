import Foundation
import Relata

// Conditions on attributes: each operator of the typed API, with the same condition in Swift. Each has its own
// statement, because the compiler would take long for a list of them.

extension DiscCheck {
    static let comparisons: [DiscCheck] = {
        var checks: [DiscCheck] = []
        func add(
            _ name: String, _ condition: @escaping @Sendable (Disc.Fields) -> Condition,
            _ holds: @escaping @Sendable (Disc) -> Bool
        ) { checks.append(DiscCheck(name, condition, holds)) }
        let date = Date(timeIntervalSince1970: 0)
        let day = date.addingTimeInterval(365 * 86400)

        add("copies ==", { $0.copies == 3 }, { $0.copies == 3 })
        add("copies !=", { $0.copies != 3 }, { $0.copies != 3 })
        add("copies <", { $0.copies < 0 }, { $0.copies < 0 })
        add("copies <=", { $0.copies <= 0 }, { $0.copies <= 0 })
        add("copies >", { $0.copies > 2 }, { $0.copies > 2 })
        add("copies >=", { $0.copies >= 2 }, { $0.copies >= 2 })
        add("rating ==", { $0.rating == 1.5 }, { $0.rating == 1.5 })
        add("rating !=", { $0.rating != 1.5 }, { $0.rating != 1.5 })
        add("rating <", { $0.rating < 1.5 }, { $0.rating.map { $0 < 1.5 } ?? false })
        add("rating >=", { $0.rating >= 1.5 }, { $0.rating.map { $0 >= 1.5 } ?? false })
        add("rating == nil", { $0.rating == nil }, { $0.rating == nil })
        add("rating != nil", { $0.rating != nil }, { $0.rating != nil })
        add("price ==", { $0.price == 9.5 }, { $0.price == 9.5 })
        add("price <", { $0.price < 10 }, { $0.price < 10 })
        add("price >", { $0.price > 9.5 }, { $0.price > 9.5 })
        add("title <", { $0.title < "a" }, { $0.title.utf8.lexicographicallyPrecedes("a".utf8) })
        add("title >=", { $0.title >= "a" }, { !$0.title.utf8.lexicographicallyPrecedes("a".utf8) })
        add("released <", { $0.released < date }, { $0.released.map { $0 < date } ?? false })
        add("released > ", { $0.released > date }, { $0.released.map { $0 > date } ?? false })
        add("format ==", { $0.format == .cd }, { $0.format == .cd })
        add("format !=", { $0.format != .cd }, { $0.format != .cd })
        add("isLive", { $0.isLive == true }, { $0.isLive })
        add("!isLive", { !$0.isLive }, { !$0.isLive })
        add("two attributes", { $0.title.optional == $0.notes }, { $0.title == $0.notes })
        add("two attributes !=", { $0.notes != $0.title.optional }, { $0.title != $0.notes })
        add("id ==", { $0.id == 7 }, { $0.id == 7 })
        add("id in", { $0.id.in([1, 5, 9, 400]) }, { [1, 5, 9].contains($0.id) })
        add("copies in list", { $0.copies.in([1, 2, -3]) }, { [1, 2, -3].contains($0.copies) })
        add("copies in nothing", { $0.copies.in([]) }, { _ in false })
        add("rating in list with nil", { $0.rating.in([nil, 3]) }, { $0.rating == nil || $0.rating == 3 })
        add("rating in list", { $0.rating.in([1, 3]) }, { $0.rating == 1 || $0.rating == 3 })
        add("format in", { $0.format.in([.cd, .file]) }, { $0.format != .vinyl })
        add("copies in closed range", { $0.copies.in(-1...3) }, { (-1...3).contains($0.copies) })
        add("copies in range", { $0.copies.in(-1..<3) }, { (-1..<3).contains($0.copies) })
        add("rating in closed range", { $0.rating.in(0.5...2) }, { $0.rating.map { (0.5...2).contains($0) } ?? false })
        add("rating in range", { $0.rating.in(0.5..<2) }, { $0.rating.map { (0.5..<2).contains($0) } ?? false })
        add("price in range", { $0.price.in(0...Decimal(9.5)) }, { (0...9.5).contains($0.price) })
        add("released in", { $0.released.in(date..<day) }, { $0.released.map { (date..<day).contains($0) } ?? false })
        add("released or", { $0.released.or(date) == date }, { ($0.released ?? date) == date })
        add("rating or", { $0.rating.or(2) > 1.5 }, { ($0.rating ?? 2) > 1.5 })
        return checks
    }()

    static let texts: [DiscCheck] = {
        var checks: [DiscCheck] = []
        func add(
            _ name: String, _ condition: @escaping @Sendable (Disc.Fields) -> Condition,
            _ holds: @escaping @Sendable (String) -> Bool
        ) { checks.append(DiscCheck(name, condition, { $0.notes.map(holds) ?? false })) }
        let both: TextOptions = [.caseInsensitive, .diacriticInsensitive]

        add("contains", { $0.notes.contains("ari") }, { $0.contains("ari") })
        add("contains %", { $0.notes.contains("%") }, { $0.contains("%") })
        add("contains nothing", { $0.notes.contains("") }, { _ in true })
        add("contains, case", { $0.notes.contains("PAR", .caseInsensitive) }, { $0.caseless.contains("par") })
        add("contains, marks", { $0.notes.contains("eté", .diacriticInsensitive) }, { $0.plain.contains("ete") })
        add("contains, both", { $0.notes.contains("Eté", both) }, { $0.plain.caseless.contains("ete") })
        add("hasPrefix", { $0.notes.hasPrefix("Par") }, { $0.hasPrefix("Par") })
        add("hasPrefix, case", { $0.notes.hasPrefix("SALT", .caseInsensitive) }, { $0.caseless.hasPrefix("salt") })
        add("hasPrefix, both", { $0.notes.hasPrefix("ÈTE", both) }, { $0.plain.caseless.hasPrefix("ete") })
        add("hasSuffix", { $0.notes.hasSuffix("ris") }, { $0.hasSuffix("ris") })
        add("hasSuffix, marks", { $0.notes.hasSuffix("zurich", both) }, { $0.plain.caseless.hasSuffix("zurich") })
        add("like", { $0.notes.like("*Par?s") }, { $0.hasSuffix("Paris") })
        add("like, escaped", { $0.notes.like("*x_\\*") }, { $0.hasSuffix("x_*") })
        add("like, both", { $0.notes.like("?TE", both) }, { $0.count == 3 && $0.plain.caseless.hasSuffix("te") })
        add("matches", { $0.notes.matches("[Pp]aris") }, { $0.caseless == "paris" })
        add("equals, case", { $0.notes.equals("PARIS", .caseInsensitive) }, { $0.caseless == "paris" })
        add("equals, both", { $0.notes.equals("Ete", both) }, { $0.plain.caseless == "ete" })
        add("lowercased", { $0.notes.lowercased == "paris" }, { $0.lowercased() == "paris" })
        add("uppercased", { $0.notes.uppercased == "ETE" }, { $0.uppercased() == "ETE" })
        add("trimmed", { $0.notes.trimmed == "Salt" }, { $0.trimmingCharacters(in: .whitespaces) == "Salt" })
        add("length", { $0.notes.length == 5 }, { $0.count == 5 })
        add("length 0", { $0.notes.length == 0 }, { $0.isEmpty })
        return checks
    }()

    static let dates: [DiscCheck] = {
        var checks: [DiscCheck] = []
        func add(
            _ name: String, _ condition: @escaping @Sendable (Disc.Fields) -> Condition,
            _ part: Calendar.Component, _ holds: @escaping @Sendable (Int) -> Bool
        ) { checks.append(DiscCheck(name, condition, { $0.released(part).map(holds) ?? false })) }
        add("year", { $0.released.year == 1969 }, .year, { $0 == 1969 })
        add("year in", { $0.released.year.in(1970...1971) }, .year, { (1970...1971).contains($0) })
        add("month", { $0.released.month <= 4 }, .month, { $0 <= 4 })
        add("day", { $0.released.day > 15 }, .day, { $0 > 15 })
        add("hour", { $0.released.hour < 12 }, .hour, { $0 < 12 })
        add("minute", { $0.released.minute % 2 == 0 }, .minute, { $0 % 2 == 0 })
        add("second", { $0.released.second >= 30 }, .second, { $0 >= 30 })
        add("weekday", { $0.released.weekday.in([0, 6]) }, .weekday, { $0 == 1 || $0 == 7 })
        return checks
    }()

    static let arithmetic: [DiscCheck] = {
        var checks: [DiscCheck] = []
        func add(
            _ name: String, _ condition: @escaping @Sendable (Disc.Fields) -> Condition,
            _ holds: @escaping @Sendable (Disc) -> Bool
        ) { checks.append(DiscCheck(name, condition, holds)) }
        @Sendable func quotient(_ left: Int, _ right: Int) -> Int? { right == 0 ? nil : left / right }
        add("+", { $0.copies + 2 == 4 }, { $0.copies + 2 == 4 })
        add("-", { $0.copies - $0.pieces.count > 0 }, { $0.copies - $0.allPieces.count > 0 })
        add("*", { $0.copies * $0.copies == 9 }, { $0.copies * $0.copies == 9 })
        add("/", { $0.copies / 2 == -1 }, { $0.copies / 2 == -1 })
        add(
            "/ 0",
            {
                ($0.copies / ($0.copies - 1)) == 1
            }, { quotient($0.copies, $0.copies - 1) == 1 })
        add("/ 0 is unset", { ($0.copies / ($0.copies - 1)).optional == nil }, { $0.copies == 1 })
        add("%", { $0.copies % 2 == -1 }, { $0.copies % 2 == -1 })
        add("negated", { -$0.copies == 3 }, { -$0.copies == 3 })
        add("absolute", { $0.copies.absolute == 3 }, { abs($0.copies) == 3 })
        add("of decimals", { $0.price * 2 - 1 > 18 }, { $0.price * 2 - 1 > 18 })
        add("of decimals, exactly", { $0.price + Decimal(sign: .plus, exponent: -2, significand: 1) == 10 }) {
            $0.price + Decimal(sign: .plus, exponent: -2, significand: 1) == 10
        }
        add("of numbers that may be unset", { $0.rating.or(0) / 2 >= 0.75 }, { ($0.rating ?? 0) / 2 >= 0.75 })
        return checks
    }()
}
