/// Adds objects of one model to a save, or finds their links; `Model.gather(_:)` runs it.
@_documentation(visibility: internal)
@frozen
public struct GatherLoop<M: Model> {
    @usableFromInline
    enum Step {
        case add([M], SaveRole)
        /// Rows of the bucket, which are numbered as nodes from that on.
        case visit(Range<Int>, firstNode: Int, LinkGatherer)
    }

    @usableFromInline let bucket: Bucket<M>
    @usableFromInline let session: SaveSession
    @usableFromInline let step: Step
    /// The nodes of the objects that were added.
    @usableFromInline var nodes: [Int] = []

    init(_ step: Step, _ bucket: Bucket<M>, _ session: SaveSession) {
        self.bucket = bucket
        self.session = session
        self.step = step
    }

    @inlinable
    mutating func run() throws {
        switch step {
        case .add(let objects, let role):
            nodes.reserveCapacity(objects.count)
            for index in objects.indices { nodes.append(try bucket.add(objects, at: index, as: role, session)) }
        case .visit(let rows, let firstNode, let gatherer):
            var visitor = LinkVisitor(.gathering(gatherer))
            // Others of the same model join the bucket in the meantime, which would copy its contents.
            let objects = bucket.leadsToItself ? Array(bucket.objects[rows])[...] : bucket.objects[rows]
            for index in objects.indices {
                let offset = index - objects.startIndex
                gatherer.row = rows.lowerBound + offset
                gatherer.node = firstNode + offset
                try objects[index].visitLinks(&visitor)
            }
        }
    }
}
