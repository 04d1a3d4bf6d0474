extension Diagram {
    /// The picture as SVG 1.1, in the reader's light or dark colours. It needs nothing but itself.
    public var svg: String {
        let geometry = DiagramGeometry(self)
        let (width, height) = (Self.number(max(geometry.width, 80)), Self.number(max(geometry.height, 40)))
        var lines = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
                + "viewBox=\"0 0 \(width) \(height)\" class=\"relata\" role=\"img\">",
            "<title>\(self.boxes.count) \(self.boxes.count == 1 ? "entity" : "entities") and their relationships</title>",
            Self.style,
            "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>",
        ]
        for path in geometry.paths { lines += svg(path) }
        for (box, rectangle) in zip(boxes, geometry.boxes) { lines += svg(box, rectangle) }
        lines.append("</svg>")
        return lines.joined(separator: "\n") + "\n"
    }

    /// The colours are in plain classes: many programs that display SVG don't support variables.
    private static let style = """
        <style>
        .relata text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; \
        fill: #1f2328; }
        .relata .paper { fill: #ffffff; }
        .relata .box { fill: #f6f8fa; stroke: #8c959f; }
        .relata .head { fill: #dbe7f5; }
        .relata .middle { stroke-dasharray: 6 3; }
        .relata text.name { font-weight: bold; }
        .relata text.key { text-decoration: underline; }
        .relata text.detail, .relata text.label { fill: #59636e; }
        .relata text.label { font-size: 10px; }
        .relata .line { fill: none; stroke: #0a5fb4; stroke-width: 1.3; }
        .relata .optional { stroke-dasharray: 5 3; }
        .relata .arrow { fill: #0a5fb4; }
        @media (prefers-color-scheme: dark) {
        .relata text { fill: #e6edf3; }
        .relata .paper { fill: #0d1117; }
        .relata .box { fill: #161b22; stroke: #6e7681; }
        .relata .head { fill: #1f3350; }
        .relata text.detail, .relata text.label { fill: #9198a1; }
        .relata .line { stroke: #6cb0f5; }
        .relata .arrow { fill: #6cb0f5; }
        }
        </style>
        """

    // MARK: Boxes

    private func svg(_ box: Box, _ rectangle: DiagramGeometry.Rectangle) -> [String] {
        let (x, y) = (rectangle.x, rectangle.y)
        let size = "width=\"\(Self.number(rectangle.width))\""
        let head = DiagramGeometry.headHeight
        let place = "x=\"\(Self.number(x))\" y=\"\(Self.number(y))\""
        var lines = [
            "<g>",
            "<title>\(DiagramText.escaped(box.name))\(box.isMiddle ? ": others are related through it" : "")</title>",
            "<rect class=\"box\(box.isMiddle ? " middle" : "")\" \(place) \(size) "
                + "height=\"\(Self.number(rectangle.height))\" rx=\"5\"/>",
            "<path class=\"head\" d=\"M\(Self.number(x + 1)) \(Self.number(y + head))v\(Self.number(5 - head))"
                + "q0 -4 4 -4h\(Self.number(rectangle.width - 10))q4 0 4 4v\(Self.number(head - 5))z\"/>",
            Self.text(
                DisplayText.shortened(box.name, to: DiagramGeometry.longestName), "name", x + 10, y + 17),
        ]
        for (index, row) in box.rows.enumerated() {
            let base = y + head + 15 + Double(index) * DiagramGeometry.rowHeight
            let name = DisplayText.shortened(row.name, to: DiagramGeometry.longestName)
            let detail = DisplayText.shortened(row.detail, to: DiagramGeometry.longestName)
            lines.append(
                Self.text((row.isRelationship ? "⇉ " : "") + name, row.isKey ? "key" : nil, x + 10, base))
            lines.append(Self.text(detail, "detail", x + rectangle.width - 10, base, isEnd: true))
        }
        if box.hiddenRows > 0 {
            let base = y + head + 15 + Double(box.rows.count) * DiagramGeometry.rowHeight
            lines.append(Self.text("… \(box.hiddenRows) more", "detail", x + 10, base))
        }
        return lines + ["</g>"]
    }

    private static func text(
        _ text: String, _ kind: String?, _ x: Double, _ y: Double, isEnd: Bool = false
    ) -> String {
        let kind = kind.map { " class=\"\($0)\"" } ?? ""
        let anchor = isEnd ? " text-anchor=\"end\"" : ""
        return "<text\(kind) x=\"\(number(x))\" y=\"\(number(y))\"\(anchor)>\(DiagramText.escaped(text))</text>"
    }

    // MARK: Lines

    private func svg(_ path: DiagramGeometry.Path) -> [String] {
        let line = lines[path.line]
        let (points, count) = (path.points, path.points.count)
        func point(_ index: Int) -> String { "\(Self.number(points[index].x)) \(Self.number(points[index].y))" }
        var drawn = "M\(point(0))L\(point(1))"
        if path.isLoop {
            let radius = Self.number(abs(points[count - 2].y - points[1].y) / 2)
            let isDown = points[count - 2].y > points[1].y
            drawn += "A\(radius) \(radius) 0 0 \(isDown ? 1 : 0) \(point(count - 2))"
        } else {
            for index in stride(from: 1, to: count - 2, by: 2) {
                let middle = Self.number((points[index].x + points[index + 1].x) / 2)
                drawn +=
                    "C\(middle) \(Self.number(points[index].y)) \(middle) \(Self.number(points[index + 1].y)) "
                    + point(index + 1)
                if index + 2 < count - 1 { drawn += "L\(point(index + 2))" }
            }
        }
        drawn += "L\(point(count - 1))"
        return [
            "<g>", "<title>\(DiagramText.escaped(title(of: line)))</title>",
            "<path class=\"line\(line.isManyToMany || line.isRequired ? "" : " optional")\" d=\"\(drawn)\"/>",
        ] + svg(line.source, points[0], points[1]) + svg(line.target, points[count - 1], points[count - 2]) + ["</g>"]
    }

    /// The arrow head and the label at one end of a line.
    private func svg(_ end: End, _ edge: (x: Double, y: Double), _ next: (x: Double, y: Double)) -> [String] {
        let direction = next.x > edge.x ? 1.0 : -1.0
        var parts: [String] = []
        for index in 0..<(end.head == .many ? 2 : end.head == .one ? 1 : 0) {
            let tip = edge.x + direction * Double(index) * 7
            let back = Self.number(tip + direction * 8)
            parts.append(
                "<path class=\"arrow\" d=\"M\(Self.number(tip)) \(Self.number(edge.y))L\(back) "
                    + "\(Self.number(edge.y - 4))V\(Self.number(edge.y + 4))z\"/>")
        }
        let label = DisplayText.shortened(end.label, to: DiagramGeometry.longestLabel)
        if !label.isEmpty {
            parts.append(Self.text(label, "label", edge.x + direction * 18, edge.y - 4, isEnd: direction < 0))
        }
        return parts
    }

    private func title(of line: Line) -> String {
        func side(_ end: End, _ other: End) -> String? {
            end.name.map { "\(boxes[end.box].name).\($0) \(other.head == .many ? "⇉" : "→") \(boxes[other.box].name)" }
        }
        return [side(line.source, line.target), side(line.target, line.source)].compactMap(\.self)
            .joined(separator: ", ")
    }

    /// A number in SVG, to a tenth.
    private static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let rest = tenths.magnitude % 10
        return "\(sign)\(tenths.magnitude / 10)" + (rest == 0 ? "" : ".\(rest)")
    }
}
