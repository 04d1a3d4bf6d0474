/// The words of full-text search, as ``SearchWords`` cuts them.
extension PostgresFunctions {
    /// The version of the results of ``search``; increased with every change, because columns store them.
    static let searchVersion = 1

    /// The vector is built here, and not by one of PostgreSQL's configurations, whose parser takes some words for
    /// addresses and numbers, and cuts others by the rules of the database's locale.
    ///
    /// The texts of two attributes are separated by an unsearchable word, so that no phrase spans both. A vector holds
    /// a megabyte: of longer texts the beginnings count, as many characters as fit in any script.
    static let search = #"""
        CREATE OR REPLACE FUNCTION relata.search_vector(texts text[]) RETURNS tsvector
        LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
        DECLARE
            value text;
            part tsvector;
            result tsvector;
        BEGIN
            FOREACH value IN ARRAY texts LOOP
                part := (
                    SELECT CAST(string_agg(
                        '''' || left(word[1], \#(SearchText.longestWord)) || ''':' || least(place, 16383), ' ') AS tsvector)
                    FROM regexp_matches(
                        relata.fold(left(value, 200000 / cardinality(texts)), 3), '[\#(parts)]|[\#(letters)][\#(marked)]*', 'g'
                    ) WITH ORDINALITY AS found(word, place));
                result := CASE
                    WHEN part IS NULL THEN result
                    WHEN result IS NULL THEN part
                    ELSE result || CAST('''.'':1' AS tsvector) || part END;
            END LOOP;
            RETURN coalesce(result, CAST('' AS tsvector));
        END $$;
        """#

    private static let parts = CharacterClass.ranges { $0.searchRole == .wordByItself }
    private static let letters = CharacterClass.ranges { $0.searchRole == .letter }
    private static let marked = CharacterClass.ranges { $0.searchRole == .letter || $0.searchRole == .mark }
}
