/// Places boxes in columns so that the lines between them go from left to right, cross seldom and touch no box.
///
/// The steps are those of Sugiyama, Tagawa and Toda: lines that would close a cycle are reversed, each box gets a
/// column to the right of those that lead to it, long lines get a place in each column that they pass, the places of
/// each column are sorted so that few lines cross, and then moved up and down so that lines are short and straight. The
/// last step is exact for one column: the least squares under the given distances, by pooling neighbours (isotonic
/// regression).
struct LayeredLayout {
    /// A box to place.
    struct Box {
        let width: Double
        let height: Double
    }

    /// A line from the left box to the right one, once the layout has decided which is which.
    struct Route {
        /// The number of the line.
        let line: Int
        let left: Int
        let right: Int
        /// The heights at which the line passes the columns between its boxes.
        fileprivate(set) var passes: [(column: Int, y: Double)] = []
    }

    /// A place in a column: a box, or a passing long line.
    private struct Place {
        let box: Int?
        let height: Double
        var column: Int
        var y = 0.0
        /// Neighbours in the column before and the column after.
        var before: [Int] = []
        var after: [Int] = []
    }

    /// The column of each box.
    private(set) var columns: [Int]
    /// The middle of each box.
    private(set) var middles: [Double]
    /// The lines between different boxes.
    private(set) var routes: [Route] = []
    /// The number of columns.
    private(set) var columnCount = 0

    private let boxes: [Box]
    private var places: [Place] = []
    private var order: [[Int]] = []
    /// The places of each line, from left to right.
    private var chains: [[Int]] = []
    private static let distance = 28.0

    /// - Parameter lines: The boxes at the ends of each line; the first is on the left if possible.
    init(_ boxes: [Box], lines: [(Int, Int)]) {
        self.boxes = boxes
        columns = Array(repeating: 0, count: boxes.count)
        middles = Array(repeating: 0, count: boxes.count)
        let directed = Self.withoutCircles(lines, boxes.count)
        assignColumns(directed.map { ($0.left, $0.right) })
        for line in directed { routes.append(Route(line: line.line, left: line.left, right: line.right)) }
        makePlaces()
        sort()
        align()
        for (number, chain) in chains.enumerated() {
            routes[number].passes = chain.dropFirst().dropLast().map { (places[$0].column, places[$0].y) }
        }
        for place in places { if let box = place.box { middles[box] = place.y } }
    }

    // MARK: Columns

    /// The lines between different boxes, reversed if they close a cycle.
    private static func withoutCircles(_ lines: [(Int, Int)], _ count: Int) -> [(line: Int, left: Int, right: Int)] {
        var leading: [[Int]] = Array(repeating: [], count: count)
        for (number, line) in lines.enumerated() where line.0 != line.1 { leading[line.0].append(number) }
        var left: [Int: Bool] = [:]
        // 0: not seen, 1: being followed, 2: done.
        var state = Array(repeating: 0, count: count)
        for root in 0..<count where state[root] == 0 {
            var path = [(box: root, next: 0)]
            state[root] = 1
            while let step = path.last {
                guard step.next < leading[step.box].count else {
                    state[step.box] = 2
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let number = leading[step.box][step.next]
                let other = lines[number].1
                left[number] = state[other] != 1
                if state[other] == 0 {
                    state[other] = 1
                    path.append((other, 0))
                }
            }
        }
        return lines.enumerated().compactMap { number, line in
            guard let isForward = left[number] else { return nil }
            return isForward ? (number, line.0, line.1) : (number, line.1, line.0)
        }
    }

    /// Gives each box a column to the right of all that lead to it, with a limit on the boxes in a column.
    private mutating func assignColumns(_ lines: [(Int, Int)]) {
        var following: [[Int]] = Array(repeating: [], count: boxes.count)
        var leading = following
        for (left, right) in lines {
            following[left].append(right)
            leading[right].append(left)
        }
        let area = boxes.reduce(0) { $0 + ($1.width + 160) * ($1.height + Self.distance) }
        let limit = max(area.squareRoot() * 0.8, boxes.map(\.height).max() ?? 0)
        var heights: [Double] = []
        var waiting = leading.map(\.count)
        var ready = boxes.indices.filter { waiting[$0] == 0 }
        var sorted: [Int] = []
        while !ready.isEmpty {
            let box = ready.removeFirst()
            sorted.append(box)
            for next in following[box] {
                waiting[next] -= 1
                if waiting[next] == 0 { ready.append(next) }
            }
        }
        for box in sorted {
            var column = (leading[box].map { columns[$0] }.max() ?? -1) + 1
            while column < heights.count, heights[column] > 0, heights[column] + boxes[box].height > limit {
                column += 1
            }
            while heights.count <= column { heights.append(0) }
            heights[column] += boxes[box].height + Self.distance
            columns[box] = column
        }
        // A box without lines to its left is placed as near as possible to its targets.
        for box in sorted.reversed() where leading[box].isEmpty && !following[box].isEmpty {
            var column = (following[box].map { columns[$0] }.min() ?? 1) - 1
            while column > columns[box], heights[column] + boxes[box].height > limit { column -= 1 }
            guard column > columns[box] else { continue }
            heights[columns[box]] -= boxes[box].height + Self.distance
            heights[column] += boxes[box].height + Self.distance
            columns[box] = column
        }
        // Empty columns are removed.
        let used = Set(columns).sorted()
        let numbers = Dictionary(uniqueKeysWithValues: used.enumerated().map { ($0.element, $0.offset) })
        columns = columns.map { numbers[$0] ?? 0 }
        columnCount = used.count
    }

    private mutating func makePlaces() {
        order = Array(repeating: [], count: columnCount)
        for box in boxes.indices { add(Place(box: box, height: boxes[box].height, column: columns[box])) }
        for route in routes {
            var chain = [route.left]
            for column in (columns[route.left] + 1)..<max(columns[route.left] + 1, columns[route.right]) {
                chain.append(places.count)
                add(Place(box: nil, height: 8, column: column))
            }
            chain.append(route.right)
            for (first, second) in zip(chain, chain.dropFirst()) {
                places[first].after.append(second)
                places[second].before.append(first)
            }
            chains.append(chain)
        }
    }

    private mutating func add(_ place: Place) {
        order[place.column].append(places.count)
        places.append(place)
    }

    // MARK: Order

    /// Sorts the positions of each column by the mean position of their neighbours, back and forth, and keeps the best.
    private mutating func sort() {
        var best = order
        var fewest = crossings()
        for round in 0..<24 where fewest > 0 {
            let isForward = round.isMultiple(of: 2)
            for column in isForward ? Array(order.indices.dropFirst()) : order.indices.dropLast().reversed() {
                let other = order[isForward ? column - 1 : column + 1]
                var position = Array(repeating: 0.0, count: places.count)
                for (index, place) in other.enumerated() { position[place] = Double(index) }
                let keyed = order[column].enumerated().map { index, place in
                    let neighbours = isForward ? places[place].before : places[place].after
                    let mean = neighbours.reduce(0) { $0 + position[$1] } / Double(max(neighbours.count, 1))
                    let scale = Double(max(other.count, 1)) / Double(order[column].count)
                    return (place, neighbours.isEmpty ? Double(index) * scale : mean, index)
                }
                order[column] = keyed.sorted { ($0.1, $0.2) < ($1.1, $1.2) }.map(\.0)
            }
            let count = crossings()
            if count < fewest { (best, fewest) = (order, count) }
        }
        order = best
    }

    /// The number of crossing pairs of lines.
    private func crossings() -> Int {
        var position = Array(repeating: 0, count: places.count)
        for column in order { for (index, place) in column.enumerated() { position[place] = index } }
        var count = 0
        for column in order.indices.dropLast() {
            let ends = order[column].flatMap { places[$0].after.map { position[$0] }.sorted() }
            // Counts the ends above each end that came before it, by a tree of partial sums.
            var tree = Array(repeating: 0, count: order[column + 1].count + 1)
            for (seen, end) in ends.enumerated() {
                var index = end + 1
                var notAbove = 0
                while index > 0 { (notAbove, index) = (notAbove + tree[index], index & (index - 1)) }
                count += seen - notAbove
                index = end + 1
                while index < tree.count {
                    tree[index] += 1
                    index += index & -index
                }
            }
        }
        return count
    }

    // MARK: Heights

    /// Moves each column so that its places are as near as they can be to the mean of their neighbours.
    private mutating func align() {
        for column in order {
            var y = 0.0
            for place in column {
                places[place].y = y + places[place].height / 2
                y += places[place].height + Self.distance
            }
        }
        for round in 0..<16 {
            for column in round.isMultiple(of: 2) ? Array(order.indices) : order.indices.reversed() {
                let members = order[column]
                let wanted = members.map { place -> (y: Double, weight: Double) in
                    let neighbours = places[place].before + places[place].after
                    guard !neighbours.isEmpty else { return (places[place].y, 0.1) }
                    let mean = neighbours.reduce(0) { $0 + places[$1].y } / Double(neighbours.count)
                    return (mean, places[place].box == nil ? 4 : Double(neighbours.count))
                }
                let distances = zip(members, members.dropFirst()).map {
                    (places[$0].height + places[$1].height) / 2
                        + (places[$0].box == nil && places[$1].box == nil ? 10 : Self.distance)
                }
                for (place, y) in zip(members, Self.nearest(wanted, distances)) { places[place].y = y }
            }
        }
    }

    /// The values nearest to the wanted ones, by weighted squares, each at least the distance after the one before it.
    static func nearest(_ wanted: [(y: Double, weight: Double)], _ distances: [Double]) -> [Double] {
        var offset = 0.0
        var offsets: [Double] = []
        // Neighbours that would have to be closer than allowed share the mean of their wanted places.
        var pools: [(mean: Double, weight: Double, count: Int)] = []
        for (index, place) in wanted.enumerated() {
            if index > 0 { offset += distances[index - 1] }
            offsets.append(offset)
            pools.append((place.y - offset, place.weight, 1))
            while pools.count > 1, let last = pools.last, pools[pools.count - 2].mean >= last.mean {
                pools.removeLast()
                let before = pools[pools.count - 1]
                let weight = before.weight + last.weight
                let mean = (before.mean * before.weight + last.mean * last.weight) / weight
                pools[pools.count - 1] = (mean, weight, before.count + last.count)
            }
        }
        return zip(pools.flatMap { Array(repeating: $0.mean, count: $0.count) }, offsets).map { $0 + $1 }
    }
}
