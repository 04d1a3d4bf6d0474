import Foundation

/// Text: folding, case, patterns and words.
///
/// The sets of marks, letters and spaces are Swift's. Case and normal forms are PostgreSQL's, whose Unicode may be
/// older or newer than Swift's: characters that one of them doesn't know yet may fold differently.
extension PostgresFunctions {
    /// As ``TextFolding`` and the functions of text that Swift registers with SQLite.
    ///
    /// ICU writes the last sigma of a word as `ς`, and Swift doesn't depend on the context: so capital sigmas are
    /// replaced first. The dotless i is replaced by U+FDD0, which isn't a character, so that it doesn't become an
    /// ordinary I.
    static let text = #"""
        CREATE OR REPLACE FUNCTION relata.fold(value text, options integer) RETURNS text
        LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
        BEGIN
            IF options = 0 THEN RETURN value; END IF;
            IF octet_length(value) = char_length(value) THEN
                RETURN CASE WHEN options & 1 = 1 THEN lower(value COLLATE "C") ELSE value END;
            END IF;
            IF options & 2 = 2 THEN
                value := regexp_replace(normalize(value, NFD), '[\#(diacritics)]', '', 'g');
            END IF;
            IF options & 1 = 1 THEN
                value := upper(replace(value, 'ı', U&'\FDD0') COLLATE "und-x-icu");
                value := lower(replace(value, 'Σ', 'σ') COLLATE "und-x-icu");
                value := replace(value, U&'\FDD0', 'ı');
            END IF;
            RETURN normalize(value, NFC);
        END $$;

        CREATE OR REPLACE FUNCTION relata.lowercased(value text) RETURNS text
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT lower(replace(value, 'Σ', 'σ') COLLATE "und-x-icu")
        $$;

        CREATE OR REPLACE FUNCTION relata.uppercased(value text) RETURNS text
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT upper(value COLLATE "und-x-icu") $$;

        CREATE OR REPLACE FUNCTION relata.trimmed(value text) RETURNS text
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT btrim(value, \#(whitespace)) $$;

        CREATE OR REPLACE FUNCTION relata.ends(value text, part text) RETURNS boolean
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT right(value, char_length(part)) = part $$;

        CREATE OR REPLACE FUNCTION relata.like_pattern(pattern text) RETURNS text
        LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
        DECLARE
            result text := '';
            letter text;
            escaped boolean := false;
        BEGIN
            FOR letter IN SELECT unnest(string_to_array(pattern, NULL)) LOOP
                IF letter = '\' AND NOT escaped THEN
                    escaped := true;
                    CONTINUE;
                END IF;
                result := result || CASE
                    WHEN letter = '*' AND NOT escaped THEN '%'
                    WHEN letter = '?' AND NOT escaped THEN '_'
                    WHEN letter IN ('%', '_', '\') THEN '\' || letter
                    ELSE letter END;
                escaped := false;
            END LOOP;
            RETURN CASE WHEN escaped THEN result || '\\' ELSE result END;
        END $$;

        CREATE OR REPLACE FUNCTION relata.like(value text, pattern text, options integer) RETURNS boolean
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT relata.fold(value, options) LIKE relata.like_pattern(relata.fold(pattern, options))
        $$;

        -- The number of characters as a person counts them. Flags are pairs, and what a joiner joins is one; syllables of
        -- Hangul that have no single code are counted by their parts, which Swift doesn't do.
        CREATE OR REPLACE FUNCTION relata.length(value text) RETURNS bigint
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CAST(char_length(CASE
                WHEN octet_length(value) = char_length(value) THEN replace(value, E'\r\n', ' ')
                ELSE regexp_replace(
                    normalize(value, NFC),
                    '(?:\r\n|[\U0001f1e6-\U0001f1ff]{2}|.)(?:\u200d?[\#(extenders)]|\u200d(?![[:alnum:]]).|\u200d)*',
                    ' ', 'g')
                END) AS bigint)
        $$;
        """#

    /// As ``TextWords``.
    static let words = #"""
        CREATE OR REPLACE FUNCTION relata.words_of(value text, options integer) RETURNS text[]
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT coalesce(array_agg(word[1] ORDER BY place), '{}')
            FROM regexp_matches(relata.fold(value, options), '[\#(letters)]+', 'g') WITH ORDINALITY AS found(word, place)
        $$;

        CREATE OR REPLACE FUNCTION relata.word_count(value text, query text, options integer) RETURNS bigint
        LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
        DECLARE
            found text[] := relata.words_of(value, options);
            wanted text[] := '{}';
            total bigint := 0;
            times bigint;
            part text;
            place bigint;
            term text;
            phrase text[];
        BEGIN
            FOR part, place IN SELECT * FROM unnest(string_to_array(query, '"')) WITH ORDINALITY LOOP
                IF place % 2 = 0 THEN
                    phrase := relata.words_of(part, options);
                    CONTINUE WHEN cardinality(phrase) = 0;
                    times := (SELECT count(*) FROM generate_subscripts(found, 1) AS first
                        WHERE found[first:first + cardinality(phrase) - 1] = phrase);
                    IF times = 0 THEN RETURN 0; END IF;
                    total := total + times;
                ELSE
                    FOR term IN SELECT unnest(regexp_split_to_array(part, '[\#(spaces)]+')) LOOP
                        IF left(term, 1) <> '-' THEN
                            wanted := wanted || relata.words_of(term, options);
                        ELSIF found && relata.words_of(term, options) THEN
                            RETURN 0;
                        END IF;
                    END LOOP;
                END IF;
            END LOOP;
            RETURN total + (SELECT count(*) FROM unnest(found) AS word WHERE word = ANY (wanted));
        END $$;

        CREATE OR REPLACE FUNCTION relata.words(value text, query text, options integer) RETURNS boolean
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT relata.word_count(value, query, options) > 0 $$;
        """#

    /// Regular expressions, matched by PostgreSQL's own engine: in limited time, but without ICU's possessive
    /// repetitions, named groups, classes such as `\p{L}` and sets within sets, which it reports. Different notations
    /// are translated: the boundary of a word, the end of the text, `\Q` and `\E`, and a dot that doesn't match line
    /// breaks.
    static let expressions = #"""
        CREATE OR REPLACE FUNCTION relata.expression(pattern text, options integer, whole boolean) RETURNS text
        LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
        DECLARE
            head text[] := regexp_match(pattern, '^\(\?([imsx]+)\)');
            flags text := coalesce(head[1], '') || CASE WHEN options & 1 = 1 THEN 'i' ELSE '' END;
            result text := '';
            letter text;
            escaped boolean := false;
            quoted boolean := false;
            depth integer := 0;
        BEGIN
            IF head IS NOT NULL THEN pattern := substr(pattern, char_length(head[1]) + 4); END IF;
            FOR letter IN SELECT unnest(string_to_array(pattern, NULL)) LOOP
                IF quoted THEN
                    IF escaped AND letter = 'E' THEN
                        quoted := false;
                        escaped := false;
                        CONTINUE;
                    END IF;
                    IF escaped THEN result := result || '\\'; END IF;
                    escaped := letter = '\';
                    IF NOT escaped THEN
                        result := result
                            || CASE WHEN strpos(E'.[]{}()*+?^$|# \t\n\r', letter) > 0 THEN '\' ELSE '' END || letter;
                    END IF;
                ELSIF escaped AND letter = 'Q' AND depth = 0 THEN
                    quoted := true;
                    escaped := false;
                ELSIF escaped THEN
                    result := result || CASE
                        WHEN depth > 0 THEN '\' || letter
                        WHEN letter = 'b' THEN '\y'
                        WHEN letter = 'B' THEN '\Y'
                        WHEN letter = 'z' THEN '\Z'
                        WHEN letter = 'h' THEN '[ \t]'
                        ELSE '\' || letter END;
                    escaped := false;
                ELSIF letter = '\' THEN
                    escaped := true;
                ELSE
                    IF letter = '[' AND depth = 0 THEN depth := 1;
                    ELSIF letter = ']' THEN depth := 0; END IF;
                    result := result || letter;
                END IF;
            END LOOP;
            IF escaped THEN result := result || CASE WHEN quoted THEN '\\' ELSE '\' END; END IF;
            -- A comment ends with its line.
            IF flags ~ 'x' THEN result := result || E'\n'; END IF;
            RETURN '(?' || CASE
                WHEN flags ~ 's' AND flags ~ 'm' THEN 'w'
                WHEN flags ~ 's' THEN 's'
                WHEN flags ~ 'm' THEN 'n'
                ELSE 'p' END
                || CASE WHEN flags ~ 'i' THEN 'i' ELSE '' END || CASE WHEN flags ~ 'x' THEN 'x' ELSE '' END || ')'
                || CASE WHEN whole THEN '\A(?:' || result || ')\Z' ELSE '(?:' || result || ')' END;
        END $$;

        CREATE OR REPLACE FUNCTION relata.search(value text, pattern text, options integer) RETURNS boolean
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT relata.fold(value, options & 2) COLLATE "und-x-icu"
                ~ relata.expression(relata.fold(pattern, options & 2), options, false)
        $$;

        CREATE OR REPLACE FUNCTION relata.matches(value text, pattern text, options integer) RETURNS boolean
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT relata.fold(value, options & 2) COLLATE "und-x-icu"
                ~ relata.expression(relata.fold(pattern, options & 2), options, true)
        $$;
        """#

    private static let diacritics = CharacterClass.ranges { $0.isDiacritic }
    private static let extenders = CharacterClass.ranges {
        $0.properties.isGraphemeExtend || $0.properties.generalCategory == .spacingMark
    }
    /// The characters of words: a mark belongs to the letter before it.
    private static let letters = CharacterClass.ranges {
        $0.properties.isAlphabetic || $0.properties.numericType != nil || $0.properties.isGraphemeExtend
            || $0.properties.generalCategory == .spacingMark
    }
    private static let spaces = CharacterClass.ranges { $0.properties.isWhitespace }
    private static let whitespace = CharacterClass.list { CharacterSet.whitespacesAndNewlines.contains($0) }
}
