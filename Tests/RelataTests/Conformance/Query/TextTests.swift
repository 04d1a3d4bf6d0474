import Relata
import Testing

/// Conditions on text: as bytes, and without regard to case or diacritics.
@Suite struct TextTests {
    @Test(arguments: Engine.allCases) func partsOfText(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("AD", Disc.where { $0.notes.contains("Paris") })
        try discs.expect("", Disc.where { $0.notes.contains("paris") })
        try discs.expect("BCE", Disc.where { !$0.notes.contains("Paris") })
        try discs.expect("A", Disc.where { $0.notes.hasPrefix("Été") })
        try discs.expect("ABDE", Disc.where { $0.notes.hasPrefix("") })
        try discs.expect("D", Disc.where { $0.notes.hasSuffix("_x*") })
        try discs.expect("D", Disc.where { $0.notes.contains("%") })
        try discs.expect("", Disc.where { $0.notes.contains("' OR 1 = 1 --") })
    }

    @Test(arguments: Engine.allCases) func optionsIgnoreCaseAndDiacritics(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let both: TextOptions = [.caseInsensitive, .diacriticInsensitive]
        try discs.expect("AD", Disc.where { $0.notes.contains("pARIS", .caseInsensitive) })
        try discs.expect("B", Disc.where { $0.notes.contains("eté", .diacriticInsensitive) })
        try discs.expect("AB", Disc.where { $0.notes.hasPrefix("ÊTE", both) })
        try discs.expect("A", Disc.where { $0.notes.hasSuffix("A PARIS", both) })
        try discs.expect("A", Disc.where { $0.notes.equals("éTÉ À paris", .caseInsensitive) })
        try discs.expect("B", Disc.where { $0.notes.equals("ÉTÉ", both) })
    }

    @Test(arguments: Engine.allCases) func patterns(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("AD", Disc.where { $0.notes.like("*Paris*") })
        try discs.expect("B", Disc.where { $0.notes.like("e?e") })
        try discs.expect("D", Disc.where { $0.notes.like("100% ?aris_x*") })
        try discs.expect("A", Disc.where { $0.notes.like("ete*p*", [.caseInsensitive, .diacriticInsensitive]) })
        try discs.expect("E", Disc.where { $0.notes.like("") })
        try discs.expect("B", Disc.where { $0.notes.matches("e.e") })
        try discs.expect("D", Disc.where { $0.notes.matches("[0-9]+%.*") })
        try discs.expect("AB", Disc.where { $0.notes.matches("[eé]t[eé].*", .caseInsensitive) })
    }

    @Test(arguments: Engine.allCases) func functions(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("A", Disc.where { $0.title.lowercased == "a" })
        try discs.expect("B", Disc.where { $0.notes.uppercased == "ETE" })
        try discs.expect("E", Disc.where { $0.notes.length == 0 })
        try discs.expect("A", Disc.where { $0.notes.length == 11 })
        try discs.store.update(Disc.where { $0.title == "C" }) { $0.notes.set(to: " \t ete \n") }
        try discs.expect("BC", Disc.where { $0.notes.trimmed == "ete" })
    }
}
