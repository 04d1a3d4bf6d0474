/// The positions of a diagram's elements, in pixels.
struct DiagramGeometry {
    struct Rectangle {
        var x: Double
        var y: Double
        let width: Double
        let height: Double
    }

    /// A drawn line.
    struct Path {
        let line: Int
        /// The points from the source to the target: the line leaves the first and reaches the last horizontally, with
        /// the label above the segment to the next point.
        let points: [(x: Double, y: Double)]
        /// Whether it leads back to its own box.
        let isLoop: Bool
    }

    private(set) var boxes: [Rectangle]
    private(set) var paths: [Path] = []
    private(set) var width = 0.0
    private(set) var height = 0.0

    static let character = 7.25
    static let labelCharacter = 6.05
    static let rowHeight = 17.0
    static let headHeight = 26.0
    static let margin = 24.0
    /// The distance between lines that meet the same side of a box.
    static let portDistance = 18.0
    static let longestName = 36
    static let longestLabel = 34

    /// The point where an end of a line meets its box.
    private struct Port {
        let line: Int
        let isSource: Bool
        /// The direction of the line, by which ports are sorted.
        let toward: Double
    }

    private let diagram: Diagram

    init(_ diagram: Diagram) {
        self.diagram = diagram
        var ends = Array(repeating: 0, count: diagram.boxes.count)
        for line in diagram.lines {
            ends[line.source.box] += 1
            ends[line.target.box] += 1
        }
        boxes = zip(diagram.boxes, ends).map { Self.size(of: $0, ends: $1) }
        let (groups, loose) = Self.components(diagram)
        var pieces = groups.map { place($0) }
        pieces += placeLoose(loose)
        pack(pieces)
    }

    // MARK: Boxes

    private static func size(of box: Diagram.Box, ends: Int) -> Rectangle {
        let name = min(DisplayText.width(box.name), longestName) + 2
        let rows = box.rows.map {
            min(DisplayText.width($0.name), longestName) + min(DisplayText.width($0.detail), longestName) + 5
        }
        let lines = Double(box.rows.count + (box.hiddenRows > 0 ? 1 : 0))
        return Rectangle(
            x: 0, y: 0, width: Double(max(name, rows.max() ?? 0, 12)) * character + 12,
            height: max(headHeight + lines * rowHeight + 8, Double(ends) * portDistance + 12))
    }

    /// The boxes that lines connect, and those without any line to another.
    private static func components(_ diagram: Diagram) -> (groups: [[Int]], loose: [Int]) {
        var neighbours: [[Int]] = Array(repeating: [], count: diagram.boxes.count)
        for line in diagram.lines {
            neighbours[line.source.box].append(line.target.box)
            neighbours[line.target.box].append(line.source.box)
        }
        var seen: Set<Int> = []
        var groups: [[Int]] = []
        for root in diagram.boxes.indices where !neighbours[root].isEmpty && seen.insert(root).inserted {
            var group = [root]
            var next = 0
            while next < group.count {
                for other in neighbours[group[next]] where seen.insert(other).inserted { group.append(other) }
                next += 1
            }
            groups.append(group.sorted())
        }
        return (groups.sorted { $0.count > $1.count }, diagram.boxes.indices.filter { neighbours[$0].isEmpty })
    }

    /// A part of the picture that is moved as a whole.
    private struct Piece {
        let boxes: [Int]
        let paths: Range<Int>
        let width: Double
        let height: Double
    }

    /// Boxes without lines, in rows.
    private func placeLoose(_ loose: [Int]) -> [Piece] {
        loose.sorted { boxes[$0].height > boxes[$1].height }.map {
            Piece(boxes: [$0], paths: 0..<0, width: boxes[$0].width, height: boxes[$0].height)
        }
    }

    // MARK: Groups

    /// Places the boxes of a group and the lines between them, from (0, 0) on.
    private mutating func place(_ group: [Int]) -> Piece {
        let number = Dictionary(uniqueKeysWithValues: group.enumerated().map { ($0.element, $0.offset) })
        let lines = diagram.lines.indices.filter { number[diagram.lines[$0].source.box] != nil }
        // Referenced entities are on the left.
        let layout = LayeredLayout(
            group.map { LayeredLayout.Box(width: boxes[$0].width, height: boxes[$0].height) },
            lines: lines.map { (number[diagram.lines[$0].target.box] ?? 0, number[diagram.lines[$0].source.box] ?? 0) })
        let passes = layout.routes.flatMap { $0.passes.map(\.y) }
        let top = min(
            zip(group, layout.middles).map { $1 - boxes[$0].height / 2 }.min() ?? 0, passes.min() ?? .infinity)
        for (index, box) in group.enumerated() {
            boxes[box].y = layout.middles[index] - boxes[box].height / 2 - top
        }
        let sides = sides(layout, group, lines, top)
        // The columns, with room for the labels on both sides of the space between them.
        var left = Array(repeating: 0.0, count: layout.columnCount)
        var right = left
        var widest = left
        for (index, box) in group.enumerated() {
            let column = layout.columns[index]
            widest[column] = max(widest[column], boxes[box].width)
            left[column] = max(left[column], labelWidth(sides.left[box] ?? []))
            right[column] = max(right[column], labelWidth(sides.right[box] ?? []))
        }
        var x: [Double] = []
        var next = left.first.map { $0 > 0 ? $0 + 20 : 0 } ?? 0
        for column in 0..<layout.columnCount {
            x.append(next)
            let space = column + 1 < layout.columnCount ? right[column] + left[column + 1] + 48 : right[column] + 20
            next += widest[column] + space
        }
        for (index, box) in group.enumerated() {
            let column = layout.columns[index]
            boxes[box].x = x[column] + (widest[column] - boxes[box].width) / 2
        }
        let first = paths.count
        draw(layout, group, lines, sides, edges: zip(x, widest).map { ($0, $0 + $1) }, rooms: (left, right), top)
        let bottom = max(group.map { boxes[$0].y + boxes[$0].height }.max() ?? 0, (passes.max() ?? top) - top)
        return Piece(boxes: group, paths: first..<paths.count, width: next, height: bottom)
    }

    private func end(_ port: Port) -> Diagram.End {
        port.isSource ? diagram.lines[port.line].source : diagram.lines[port.line].target
    }

    private func labelWidth(_ ports: [Port]) -> Double {
        (ports.map { Double(min(DisplayText.width(end($0).label), Self.longestLabel)) }.max() ?? 0)
            * Self.labelCharacter
            + (ports.isEmpty ? 0 : 20)
    }

    /// The ends of lines at both sides of each box, from the top down.
    private func sides(
        _ layout: LayeredLayout, _ group: [Int], _ lines: [Int], _ top: Double
    ) -> (left: [Int: [Port]], right: [Int: [Port]]) {
        var left: [Int: [Port]] = [:]
        var right: [Int: [Port]] = [:]
        for route in layout.routes {
            let line = lines[route.line]
            let isSourceRight = diagram.lines[line].source.box == group[route.right]
            let fromLeft = route.passes.first?.y ?? layout.middles[route.right]
            let fromRight = route.passes.last?.y ?? layout.middles[route.left]
            right[group[route.left], default: []].append(
                Port(line: line, isSource: !isSourceRight, toward: fromLeft))
            left[group[route.right], default: []].append(
                Port(line: line, isSource: isSourceRight, toward: fromRight))
        }
        for line in lines where diagram.lines[line].source.box == diagram.lines[line].target.box {
            for isSource in [true, false] {
                right[diagram.lines[line].source.box, default: []].append(
                    Port(line: line, isSource: isSource, toward: .infinity))
            }
        }
        func sorted(_ ports: [Port]) -> [Port] {
            ports.enumerated().sorted { ($0.element.toward, $0.offset) < ($1.element.toward, $1.offset) }.map(\.element)
        }
        return (left.mapValues(sorted), right.mapValues(sorted))
    }

    private mutating func draw(
        _ layout: LayeredLayout, _ group: [Int], _ lines: [Int], _ sides: (left: [Int: [Port]], right: [Int: [Port]]),
        edges: [(left: Double, right: Double)], rooms: (left: [Double], right: [Double]), _ top: Double
    ) {
        /// The point at which a line meets a box, and the end of its label.
        struct Meeting {
            let edge: (x: Double, y: Double)
            let label: (x: Double, y: Double)
        }
        var meetings: [Int: [Bool: Meeting]] = [:]
        for (index, box) in group.enumerated() {
            let rectangle = boxes[box]
            let column = layout.columns[index]
            for (ports, isLeft) in [(sides.left[box] ?? [], true), (sides.right[box] ?? [], false)] {
                let first = rectangle.y + (rectangle.height - Double(ports.count - 1) * Self.portDistance) / 2
                for (place, port) in ports.enumerated() {
                    let y = first + Double(place) * Self.portDistance
                    let edge = isLeft ? rectangle.x : rectangle.x + rectangle.width
                    let label =
                        isLeft ? edges[column].left - rooms.left[column] : edges[column].right + rooms.right[column]
                    meetings[port.line, default: [:]][port.isSource] = Meeting(edge: (edge, y), label: (label, y))
                }
            }
        }
        let routes = Dictionary(uniqueKeysWithValues: layout.routes.map { (lines[$0.line], $0) })
        for line in lines {
            guard let source = meetings[line]?[true], let target = meetings[line]?[false] else { continue }
            var passes: [(x: Double, y: Double)] = []
            if let route = routes[line] {
                for pass in route.passes {
                    passes.append((edges[pass.column].left - rooms.left[pass.column], pass.y - top))
                    passes.append((edges[pass.column].right + rooms.right[pass.column], pass.y - top))
                }
                if diagram.lines[line].source.box == group[route.right] { passes.reverse() }
            }
            paths.append(
                Path(
                    line: line, points: [source.edge, source.label] + passes + [target.label, target.edge],
                    isLoop: routes[line] == nil))
        }
    }

    // MARK: The whole

    /// Places the pieces in rows, the wide ones first.
    private mutating func pack(_ pieces: [Piece]) {
        let area = pieces.reduce(0) { $0 + ($1.width + 40) * ($1.height + 40) }
        let limit = max(pieces.map(\.width).max() ?? 0, (area * 1.6).squareRoot())
        var (x, y, rowHeight) = (Self.margin, Self.margin, 0.0)
        for piece in pieces {
            if x > Self.margin, x + piece.width > limit + Self.margin {
                (x, y, rowHeight) = (Self.margin, y + rowHeight + 40, 0)
            }
            for box in piece.boxes {
                boxes[box].x += x
                boxes[box].y += y
            }
            for path in piece.paths {
                let old = paths[path]
                paths[path] = Path(line: old.line, points: old.points.map { ($0.x + x, $0.y + y) }, isLoop: old.isLoop)
            }
            width = max(width, x + piece.width + Self.margin)
            rowHeight = max(rowHeight, piece.height)
            height = max(height, y + rowHeight + Self.margin)
            x += piece.width + 40
        }
    }
}
