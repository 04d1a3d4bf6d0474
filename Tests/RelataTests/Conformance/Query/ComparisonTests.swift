import Foundation
import Relata
import Testing

/// Conditions on an object's own attributes, each operator with its result.
@Suite struct ComparisonTests {
    @Test(arguments: Engine.allCases) func equalityIsNeverUnknown(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("A", Disc.where { $0.title == "A" })
        try discs.expect("BCDE", Disc.where { $0.title != "A" })
        try discs.expect("AD", Disc.where { $0.rating == 4.5 })
        // An unset value differs from every set one.
        try discs.expect("BCE", Disc.where { $0.rating != 4.5 })
        try discs.expect("BCE", Disc.where { !($0.rating == 4.5) })
        try discs.expect("B", Disc.where { $0.rating == nil })
        try discs.expect("ACDE", Disc.where { $0.rating != nil })
        try discs.expect("ABCDE", Disc.where { $0.rating == $0.rating })
        try discs.expect("BC", Disc.where { $0.format == .cd })
        try discs.expect("BD", Disc.where { $0.isLive })
        try discs.expect("ACE", Disc.where { !$0.isLive })
        try discs.expect("BD", Disc.where { $0.isLive == true })
        try discs.expect("B", Disc.where { $0.id == 2 })
        try discs.expect("", Disc.where { $0.id == nil })
    }

    @Test(arguments: Engine.allCases) func onlySetValuesAreOrdered(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("BD", Disc.where { $0.copies < 3 })
        try discs.expect("BDE", Disc.where { $0.copies <= 3 })
        try discs.expect("A", Disc.where { $0.copies > 7 })
        try discs.expect("AC", Disc.where { $0.copies >= 7 })
        try discs.expect("CE", Disc.where { $0.rating < 4 })
        try discs.expect("ABD", Disc.where { !($0.rating < 4) })
        try discs.expect("AB", Disc.where { $0.title < "C" })
        try discs.expect("CDE", Disc.where { $0.title > "B" })
        // Decimals compare as numbers, regardless of their digits.
        try discs.expect("C", Disc.where { $0.price > 10 })
        try discs.expect("BC", Disc.where { $0.price >= 10 })
        try discs.expect("ADE", Disc.where { $0.price < 10 })
        // Two attributes of one object.
        try discs.expect("ACE", Disc.where { $0.copies > $0.pieces.count })
    }

    @Test(arguments: Engine.allCases) func listsAndRanges(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("AE", Disc.where { $0.copies.in([10, 3]) })
        try discs.expect("", Disc.where { $0.copies.in([]) })
        try discs.expect("ABCDE", Disc.where { !$0.copies.in([]) })
        try discs.expect("BC", Disc.where { $0.rating.in([nil, 3]) })
        try discs.expect("ABDE", Disc.where { !$0.rating.in([3]) })
        try discs.expect("BCDE", Disc.where { $0.format.in([.cd, .file]) })
        try discs.expect("ABCDE", Disc.where { $0.id.in((-3000...3000).map(Optional.some)) })
        try discs.expect("BCE", Disc.where { $0.copies.in(0...7) })
        try discs.expect("BE", Disc.where { $0.copies.in(0..<7) })
        try discs.expect("AC", Disc.where { $0.copies.in(5...) })
        try discs.expect("BD", Disc.where { $0.copies.in(...0) })
        try discs.expect("D", Disc.where { $0.copies.in(..<0) })
        try discs.expect("ACDE", Disc.where { $0.rating.in(0...) })
        try discs.expect("", Disc.where { $0.rating.in(..<0) })
        try discs.expect("AB", Disc.where { $0.price.in(Decimal(9.75)...10) })
        let day = Discs.date("2001-02-03T00:00:00Z")
        try discs.expect("AD", Disc.where { $0.released.in(day...day.addingTimeInterval(86400)) })
        try discs.expect("D", Disc.where { $0.released.in(day..<day.addingTimeInterval(3600)) })
    }

    @Test(arguments: Engine.allCases) func dates(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let exact = Discs.date("2001-02-03T04:05:06Z")
        try discs.expect("A", Disc.where { $0.released == exact })
        try discs.expect("B", Disc.where { $0.released < Date(timeIntervalSince1970: 0) })
        try discs.expect("AE", Disc.where { $0.released >= exact })
        try discs.expect("AD", Disc.where { $0.released.year == 2001 })
        try discs.expect("B", Disc.where { $0.released.month == 12 })
        try discs.expect("AD", Disc.where { $0.released.day == 3 })
        try discs.expect("A", Disc.where { $0.released.hour == 4 })
        try discs.expect("B", Disc.where { $0.released.minute == 59 })
        try discs.expect("B", Disc.where { $0.released.second == 59 })
        try discs.expect("AD", Disc.where { $0.released.weekday == 6 })
        try discs.expect("BCE", Disc.where { $0.released.year != 2001 })
    }

    @Test(arguments: Engine.allCases) func arithmetic(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("A", Disc.where { $0.copies + 1 == 11 })
        try discs.expect("AC", Disc.where { $0.copies * 2 - 1 > 10 })
        try discs.expect("C", Disc.where { $0.copies / 2 == 3 })
        try discs.expect("CE", Disc.where { $0.copies % 2 == 1 })
        try discs.expect("D", Disc.where { -$0.copies == 3 })
        try discs.expect("DE", Disc.where { $0.copies.absolute == 3 })
        try discs.expect("ABCDE", Disc.where { $0.copies - $0.copies == 0 })
        try discs.expect("D", Disc.where { $0.price * 2 == 19 })
        try discs.expect("A", Disc.where { $0.price + Decimal(0.01) == 10 })
        try discs.expect("AD", Disc.where { $0.rating.or(0) + 1 > 5 })
        try discs.expect("ABCDE", Disc.where { ($0.copies / 0).optional == nil })
        try discs.expect("", Disc.where { $0.copies / 0 == 0 })
    }

    @Test(arguments: Engine.allCases) func logic(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("B", Disc.where { $0.isLive && $0.format == .cd })
        try discs.expect("BCD", Disc.where { $0.isLive || $0.format == .cd })
        try discs.expect("ACDE", Disc.where { !($0.isLive && $0.format == .cd) })
        try discs.expect("AE", Disc.where { !($0.isLive || $0.format == .cd) })
        try discs.expect("B", Disc.where { $0.isLive }.where { $0.rating == nil })
        try discs.expect("ABD", Disc.where { $0.title == "A" || $0.isLive && $0.copies < 5 })
        try discs.expect("BD", Disc.where { ($0.title == "A" || $0.isLive) && $0.copies < 5 })
        try discs.expect("ABCDE", Disc.all)
    }
}
