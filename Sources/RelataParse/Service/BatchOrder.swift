/// The order in which the requests of a batch are answered: as they came, but new objects with chosen ids or
/// placeholders before those that point at them.
enum BatchOrder {
    /// The places of the requests, each once, and whether new objects point at each other in a cycle.
    ///
    /// - Parameter named: The places of new objects that have placeholders.
    static func places(
        _ routes: [Result<ObjectRoute, ParseError>], named: [Pointer: Int] = [:]
    ) -> (order: [Int], hasCircle: Bool) {
        var creations = named
        for (place, route) in routes.enumerated() {
            guard case .success(.write(.create(let name, let body))) = route, let id = body.objectID else { continue }
            creations[Pointer(className: name, objectID: id)] = place
        }
        guard !creations.isEmpty else { return (Array(routes.indices), false) }
        let walked = walk(routes, from: Array(routes.indices), creations)
        guard walked.hasCircle else { return walked }
        // A request that adds objects to a relation follows these objects, also within a cycle: pointers can wait,
        // relations can't.
        let adders = routes.indices.filter { place in
            guard case .success(.write(let write)) = routes[place], let (_, body) = write.body else { return false }
            return body.changes.contains { !$0.neededMembers.isEmpty }
        }
        return walk(routes, from: adders + routes.indices, creations)
    }

    private static func walk(
        _ routes: [Result<ObjectRoute, ParseError>], from starts: [Int], _ creations: [Pointer: Int]
    ) -> (order: [Int], hasCircle: Bool) {
        var order: [Int] = []
        var hasCircle = false
        var state = [Bool?](repeating: nil, count: routes.count)
        // An explicit stack: a chain may be as long as the batch.
        for start in starts where state[start] == nil {
            var stack = [start]
            while let place = stack.last {
                if state[place] == nil {
                    state[place] = false
                    let targets = targets(of: routes[place]).compactMap { creations[$0] }
                    hasCircle = hasCircle || targets.contains { state[$0] == false }
                    stack += targets.reversed().filter { state[$0] == nil }
                } else {
                    stack.removeLast()
                    if state[place] == false {
                        state[place] = true
                        order.append(place)
                    }
                }
            }
        }
        return (order, hasCircle)
    }

    /// Groups positions that are answered together: consecutive new objects of one class. Others are answered alone.
    static func runs(_ places: [Int], of routes: [Result<ObjectRoute, ParseError>]) -> [Run] {
        var runs: [Run] = []
        for place in places {
            guard case .success(.write(.create(let name, let body))) = routes[place],
                body.changes.allSatisfy(\.isPlain)
            else {
                runs.append(Run(places: [place]))
                continue
            }
            if let last = runs.last?.className, last.hasSameBytes(as: name) {
                runs[runs.count - 1].places.append(place)
                runs[runs.count - 1].objects.append(body)
            } else {
                runs.append(Run(places: [place], className: name, objects: [body]))
            }
        }
        return runs
    }

    /// Requests of a batch that are answered together.
    struct Run {
        var places: [Int]
        /// The class of the new objects; `nil` for any other request.
        var className: String?
        var objects: [ObjectBody] = []
    }

    static func targets(of route: Result<ObjectRoute, ParseError>) -> [Pointer] {
        guard case .success(.write(let write)) = route, let (_, body) = write.body else { return [] }
        return body.changes.flatMap { change -> [Pointer] in
            switch change {
            case .set(let value): Pointer(value).map { [$0] } ?? []
            default: change.neededMembers
            }
        }
    }
}
