import Foundation
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

@testable import RelataCore

@Suite struct DiagramTests {
    private static func library() throws -> Schema {
        try Schema([
            Entity(
                name: "Author",
                properties: [.id(), .text("name"), .manyToManyInverse("books", "Book", inverse: "authors")]),
            Entity(
                name: "Genre",
                properties: [.id(), .text("name"), .toMany("books", "Book", inverse: "genre", deleteRule: .deny)]),
            Entity(
                name: "Book",
                properties: [
                    .id(), .text("title"), .toOne("genre", "Genre"), .toOne("sequel", "Book"),
                    .manyToMany("authors", "Author"), .toMany("loans", "Loan", inverse: "book", deleteRule: .cascade),
                    .through("readers", "Reader", "loans", "reader"),
                ]),
            Entity(name: "Reader", properties: [.id(), .text("nickname", isOptional: true)]),
            Entity(
                name: "Loan",
                properties: [
                    .id(), .toOne("book", "Book", isOptional: false), .toOne("reader", "Reader", isOptional: false),
                ]),
            Entity(name: "Note", properties: [.id(), .text("text")]),
        ])
    }

    @Test func everyRelationshipIsALineNamedAtBothEnds() throws {
        let diagram = try Self.library().diagram()
        let lines = diagram.lines.map { line in
            "\(diagram.boxes[line.source.box].name) \(line.source.label) \(line.source.head) - "
                + "\(line.target.head) \(line.target.label) \(diagram.boxes[line.target.box].name)"
        }
        #expect(
            Set(lines) == [
                "Book genre many - one books [deny] Genre", "Book sequel none - one [nullify] Book",
                "Loan book many - one loans [cascade] Book", "Loan reader none - one [deny] Reader",
                "Book authors many - many books Author",
            ])
    }

    @Test func aModelThatOthersGoThroughIsMarked() throws {
        let diagram = try Self.library().diagram()
        #expect(diagram.boxes.filter(\.isMiddle).map(\.name) == ["Loan"])
        let readers = diagram.boxes.first { $0.name == "Book" }?.rows.last
        #expect(readers?.name == "readers")
        #expect(readers?.detail == "Reader via Loan")
    }

    @Test func theSVGHoldsEveryNameAndIsWellFormed() throws {
        let svg = try Self.library().diagram().svg
        let reader = XMLTexts()
        let parser = XMLParser(data: Data(svg.utf8))
        parser.delegate = reader
        #expect(parser.parse())
        for text in ["Author", "nickname", "text?", "genre", "books [deny]", "loans [cascade]", "Note"] {
            #expect(reader.texts.contains(text), "\(text)")
        }
        #expect(svg.contains("prefers-color-scheme: dark"))
    }

    @Test(arguments: [
        "</text><script>alert(1)</script>", "a\" onload=\"x", "&amp;", "\u{0}\u{1B}\u{FFFE}", "書籍 \u{1F4DA}",
        String(repeating: "long", count: 250), "line\nbreak", "]]>", "",
    ])
    func hostileNamesStayText(_ name: String) throws {
        let schema = try Schema([
            Entity(name: "A\(name)", table: "a", properties: [.id(), .text("x\(name)", column: "x")]),
            Entity(name: "B", properties: [.id(), .toOne("a\(name)", "A\(name)", columns: ["a"])]),
        ])
        let svg = schema.diagram().svg
        let reader = XMLTexts()
        let parser = XMLParser(data: Data(svg.utf8))
        parser.delegate = reader
        #expect(parser.parse())
        #expect(Set(reader.elements).isSubset(of: ["svg", "title", "style", "rect", "g", "path", "text"]))
        // XML can't contain this character.
        let shown = DisplayText.shortened("A\(name)", to: DiagramGeometry.longestName)
            .replacingOccurrences(of: "\u{FFFE}", with: "\u{FFFD}")
        #expect(reader.texts.contains(shown))
        let mermaid = schema.diagram().mermaid
        #expect(mermaid.split(separator: "\n", omittingEmptySubsequences: false).count == 10)
    }

    @Test func aDiagramWithoutEntitiesIsAnEmptyPicture() throws {
        let diagram = try Schema([]).diagram()
        #expect(XMLParser(data: Data(diagram.svg.utf8)).parse())
        #expect(diagram.mermaid == "erDiagram\n")
        let bare = Entity(name: "Bare", properties: [.toOne("a", "A", isOptional: false)], key: ["a"])
        let lines = try Schema([bare, Entity(name: "A", properties: [.id()])]).diagram().mermaid.split(separator: "\n")
        #expect(lines.contains("    Bare"))
    }

    @Test func longTablesAreCut() throws {
        let names = (0..<300).map { "column\($0)" }
        let diagram = try Schema([Entity(name: "Wide", properties: [.id()] + names.map { .text($0) })]).diagram()
        #expect(diagram.boxes[0].rows.count == Diagram.maximumRows - 1)
        #expect(diagram.svg.contains("… 272 more"))
        #expect(diagram.mermaid.contains("\"272 are left out\""))
    }

    @Test(arguments: [5, 300]) func theTextsOfATableAreStackedInsideIt(count: Int) throws {
        let names = (0..<count).map { "aRatherLongNameOfAColumn\($0)" }
        let diagram = try Schema([Entity(name: "Wide", properties: [.id()] + names.map { .text($0) })]).diagram()
        let svg = diagram.svg
        let numbers = #/<rect class="box" x="([\d.-]+)" y="([\d.-]+)" width="([\d.-]+)" height="([\d.-]+)"/#
        let box = try #require(svg.firstMatch(of: numbers)?.output)
        let (x, y) = (try #require(Double(box.1)), try #require(Double(box.2)))
        let (width, height) = (try #require(Double(box.3)), try #require(Double(box.4)))
        let wanted = DiagramGeometry(diagram).boxes[0]
        #expect(abs(width - wanted.width) < 0.1 && abs(height - wanted.height) < 0.1)
        let texts = svg.matches(of: #/<text[^>]* x="([\d.-]+)" y="([\d.-]+)"( text-anchor="end")?>([^<]*)</#).map {
            match in
            let (place, length) = (Double(match.1) ?? 0, Double(match.4.count) * DiagramGeometry.character)
            let isEnd = match.3 != nil
            return (
                left: isEnd ? place - length : place, right: isEnd ? place : place + length,
                y: Double(match.2) ?? 0, isEnd: isEnd
            )
        }
        #expect(texts.count == 1 + diagram.boxes[0].rows.count * 2 + (diagram.boxes[0].hiddenRows > 0 ? 1 : 0))
        #expect(texts.allSatisfy { $0.left > x && $0.right < x + width && $0.y > y && $0.y < y + height })
        let lines = texts.filter { !$0.isEnd }.map(\.y)
        #expect(zip(lines, lines.dropFirst()).allSatisfy { $1 - $0 >= DiagramGeometry.rowHeight })
        #expect(y + height - (lines.last ?? 0) < DiagramGeometry.rowHeight)
        for end in texts where end.isEnd {
            #expect(texts.contains { !$0.isEnd && $0.y == end.y && $0.right < end.left })
        }
    }

    @Test func arrowsPointAtTheirBoxes() throws {
        let diagram = try Self.library().diagram()
        let boxes = DiagramGeometry(diagram).boxes
        let arrows = diagram.svg.matches(of: #/class="arrow" d="M([\d.-]+) ([\d.-]+)L([\d.-]+) /#)
        #expect(!arrows.isEmpty)
        for arrow in arrows {
            let (tip, y, back) = (Double(arrow.1) ?? 0, Double(arrow.2) ?? 0, Double(arrow.3) ?? 0)
            let middle = (tip + back) / 2
            #expect(!boxes.contains { $0.x < middle && middle < $0.x + $0.width && $0.y < y && y < $0.y + $0.height })
        }
    }

    @Test func theHeightOfABoxFitsItsLines() throws {
        let schema = try Schema([
            Entity(name: "A", properties: [.id()]),
            Entity(
                name: "B", properties: [.id(), .toOne("x", "A"), .toOne("y", "A"), .toOne("z", "A"), .toOne("w", "A")]),
        ])
        let diagram = schema.diagram()
        let index = try #require(diagram.boxes.firstIndex { $0.name == "A" })
        #expect(DiagramGeometry(diagram).boxes[index].height == 4 * DiagramGeometry.portDistance + 12)
    }

    @Test func mermaidHasKeysTypesAndBothNames() throws {
        let lines = try Self.library().diagram().mermaid.split(separator: "\n").map { $0.drop { $0 == " " } }
        #expect(lines.first == "erDiagram")
        #expect(lines.contains("uuid id PK"))
        #expect(lines.contains("text nickname \"optional\""))
        #expect(lines.contains("Genre |o--o{ Book : \"genre / books [deny]\""))
        #expect(lines.contains("Book ||--o{ Loan : \"book / loans [cascade]\""))
        #expect(lines.contains("Author }o--o{ Book : \"authors / books\""))
    }
}

/// The texts and elements of an XML document.
private final class XMLTexts: NSObject, XMLParserDelegate {
    var texts: [String] = []
    var elements: [String] = []

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        elements.append(name)
        texts.append("")
    }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) {
        texts.append("")
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        guard !texts.isEmpty else { return }
        texts[texts.count - 1] += text
    }
}
