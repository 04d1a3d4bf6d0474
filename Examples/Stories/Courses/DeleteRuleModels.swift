import Relata

// The same two models four times, once for each rule: what happens to the episodes when their series is deleted.

/// The episodes go with their series.
public enum Cascading {
    @Model public struct Series: RuledSeries {
        public var id: Int?
        public var title: String
        @Relationship(deleteRule: .cascade, inverse: \Episode.ofSeries) public var episodes: ToMany<Episode>
    }

    @Model public struct Episode: RuledEpisode {
        public var id: Int?
        public var title: String
        public var ofSeries: ToOne<Series>?
    }
}

/// The episodes stay, without a series.
public enum Nullifying {
    @Model public struct Series: RuledSeries {
        public var id: Int?
        public var title: String
        @Relationship(deleteRule: .nullify, inverse: \Episode.ofSeries) public var episodes: ToMany<Episode>
    }

    @Model public struct Episode: RuledEpisode {
        public var id: Int?
        public var title: String
        public var ofSeries: ToOne<Series>?
    }
}

/// A series with episodes can't be deleted.
public enum Denying {
    @Model public struct Series: RuledSeries {
        public var id: Int?
        public var title: String
        @Relationship(deleteRule: .deny, inverse: \Episode.ofSeries) public var episodes: ToMany<Episode>
    }

    @Model public struct Episode: RuledEpisode {
        public var id: Int?
        public var title: String
        public var ofSeries: ToOne<Series>?
    }
}

/// The episodes stay as they are, and refer to a series that is gone.
public enum LettingDangle {
    @Model public struct Series: RuledSeries {
        public var id: Int?
        public var title: String
        @Relationship(deleteRule: .noAction, inverse: \Episode.ofSeries) public var episodes: ToMany<Episode>
    }

    @Model public struct Episode: RuledEpisode {
        public var id: Int?
        public var title: String
        public var ofSeries: ToOne<Series>?
    }
}

/// The properties that the four have in common, so that the same lines of code can be run on each.
public protocol RuledSeries: Model where Key == Int {
    associatedtype Episode: RuledEpisode
    var id: Int? { get }
    init(id: Int?, title: String, episodes: ToMany<Episode>)
}

/// The properties that the episodes of the four have in common.
public protocol RuledEpisode: Model where Key == Int {
    associatedtype Series: Model
    init(id: Int?, title: String, ofSeries: ToOne<Series>?)
}
