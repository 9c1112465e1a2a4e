/** Renders `unit` `count` times between two texts. */
const repeatUnit = (head: string, unit: (at: number) => string, tail: string, count: number): string =>
  head + Array.from({ length: Math.floor(count) }, (_, at) => unit(at)).join(' ') + tail;

const repeatFragment = (count: number, unit: (at: number) => string): string =>
  repeatUnit('', (at) => `fragment F${at} on posts{${unit(at)}}`, '', count);

const TOKENS = 4990;

/**
 * Documents that would keep a service busy, each as large as the limits allow. Without limits each would take a parser
 * or a validation rule a long time.
 */
export const HOSTILE_DOCUMENTS: Readonly<Record<string, string>> = {
  'one field thousands of times': repeatUnit('{posts{', () => 'id', '}}', TOKENS - 6),
  'one root field over and over': repeatUnit('{', () => 'posts{id}', '}', TOKENS / 4),
  'one relation over and over': repeatUnit('{posts{', () => 'author{id}', '}}', TOKENS / 4 - 2),
  'one relation in all of its rows': repeatUnit(
    '{posts{',
    () => 'author{comments{author{comments{id}}}}',
    '}}',
    TOKENS / 13 - 2,
  ),
  'one relation as often as it may be': repeatUnit('{posts{', () => 'author{id}', '}}', 195),
  'equal arguments': repeatUnit('{posts{', () => 'comments(limit:1){id}', '}}', TOKENS / 9 - 2),
  'equal large arguments': repeatUnit(
    '{',
    () => `posts(filter:{_and:[${'{id:{_eq:1}}'.repeat(20)}]}){id}`,
    '}',
    TOKENS / 195,
  ),
  'different arguments': repeatUnit('{posts{', (at) => `comments(limit:${at}){id}`, '}}', TOKENS / 9 - 2),
  'one alias for everything': repeatUnit(
    '{posts{',
    (at) => `a:${['id', 'title', 'views'][at % 3]}`,
    '}}',
    TOKENS / 3 - 4,
  ),
  'inline fragments': repeatUnit('{posts{', () => '...{id title}', '}}', TOKENS / 5 - 2),
  'inline fragments with types': repeatUnit('{posts{', () => '...on posts{author{id}}', '}}', TOKENS / 9 - 2),
  'one fragment over and over': repeatUnit('{posts{', () => '...F', '}} fragment F on posts{id}', TOKENS / 2 - 10),
  'many fragments':
    repeatUnit('{posts{', (at) => `...F${at}`, '}}', 380) + repeatFragment(380, () => 'author{id title}'),
  'many fragments, as many as may be':
    repeatUnit('{posts{', (at) => `...F${at}`, '}}', 120) + repeatFragment(120, (at) => `field_${at % 15}`),
  'a chain of fragments': `{posts{...F0}}${repeatFragment(600, (at) => `...F${at + 1}`)} fragment F600 on posts{id}`,
  'fragments that double': `{posts{...F0}}${repeatFragment(80, (at) => `...F${at + 1} ...F${at + 1}`)} fragment F80 on posts{id}`,
  'relations that double': `{posts{...F0}}${repeatFragment(30, (at) => `a:author{...F${at + 1}} b:author{...F${at + 1}}`)} fragment F30 on posts{id}`,
  'fragments all within each other': `{posts{...F0}}${repeatFragment(60, (at) => `${repeatUnit('', (to) => (to > at ? `...F${to}` : ''), '', 60)} id`)}`,
  'fragments in all circles': `{posts{...F0}}${repeatFragment(45, () => repeatUnit('', (to) => `...F${to}`, '', 45))}`,
  'fragments in a large circle': `{posts{...F0}}${repeatFragment(600, (at) => `...F${(at + 1) % 600}`)}`,
  'deep relations': `{${'posts{author{'.repeat(600)}id${'}}'.repeat(600)}}`,
  'deep inline fragments': `{posts${'{...'.repeat(1200)}{id}${'}'.repeat(1200)}}`,
  'deep lists': `{posts(limit:${'['.repeat(2400)}${']'.repeat(2400)}){id}}`,
  'deep conditions': `{posts(filter:${'{_and:'.repeat(1200)}{}${'}'.repeat(1200)}){id}}`,
  'a deep type': `query($a:${'['.repeat(2400)}Int${']'.repeat(2400)}){posts{id}}`,
  'brackets that are never closed': `{posts(limit:${'['.repeat(4900)}`,
  'unused variables': repeatUnit('query(', (at) => `$v${at}:Int`, '){posts{id}}', TOKENS / 4 - 10),
  'equal variables': repeatUnit('query(', () => '$v:Int', '){posts{id}}', TOKENS / 4 - 10),
  'variables of unknown types': repeatUnit(
    'query(',
    (at) => `$v${at}:posts_filtar${at}`,
    '){posts{id}}',
    TOKENS / 4 - 10,
  ),
  'many operations': repeatUnit('', (at) => `query Q${at}{posts{id}}`, '', TOKENS / 8),
  'equal operations': repeatUnit('', () => 'query Q{posts{id}}', '', TOKENS / 8),
  'operations with one fragment': repeatUnit(
    '',
    (at) => `query Q${at}{...F}`,
    'fragment F on Query{posts{id}}',
    TOKENS / 6 - 100,
  ),
  'operations with variables': repeatUnit(
    '',
    (at) => `query Q${at}($a:Int){...F}`,
    'fragment F on Query{posts(limit:$a){id}}',
    380,
  ),
  'a long list': repeatUnit('{posts(filter:{id:{_in:[', (at) => `${at}`, ']}}){id}}', TOKENS - 20),
  'a long list of nonsense': repeatUnit('{posts(filter:{id:{_in:[', () => '{a:1}', ']}}){id}}', TOKENS / 5 - 20),
  'a long list of long texts': repeatUnit('{posts(limit:[', () => `"${'x'.repeat(180)}"`, ']){id}}', TOKENS - 20),
  'unknown arguments': repeatUnit('{posts(', (at) => `a${at}:1`, '){id}}', TOKENS / 3 - 10),
  'equal arguments of one field': repeatUnit('{posts(', () => 'limit:1', '){id}}', TOKENS / 3 - 10),
  'unknown conditions': repeatUnit('{posts(filter:{', (at) => `a${at}:1`, '}){id}}', TOKENS / 3 - 10),
  'equal conditions': repeatUnit('{posts(filter:{', () => 'id:{_eq:1}', '}){id}}', TOKENS / 7 - 10),
  directives: repeatUnit('{posts{id ', () => '@include(if:true)', '}}', TOKENS / 7 - 10),
  'unknown directives': repeatUnit('{posts{id ', (at) => `@a${at}`, '}}', TOKENS / 2 - 10),
  'unknown fields': repeatUnit('{posts{', (at) => `titel${at}`, '}}', 1900),
  'unknown fields that look like others': repeatUnit('{', (at) => `collection_aggregated_${at}`, '}', 49),
  'a name without end': `{${'x'.repeat(900_000)}}`,
  'an error after a million lines': `${'\n'.repeat(900_000)}{a b c d}`,
  'errors after as many lines as may be': `${'\n'.repeat(9990)}{a b c d e}`,
  'a million comments': `${'#\n'.repeat(400_000)}{posts{id}}`,
  'a text of a million lines': `{posts(search:"""${'\n '.repeat(400_000)}"""){id}}`,
  'a million commas': `${','.repeat(900_000)}{posts{id}}`,
  'types of types that treble': `{__type(name:"posts"){...F0}}${Array.from({ length: 40 }, (_, at) => `fragment F${at} on __Type{ofType{...F${at + 1}}interfaces{...F${at + 1}}possibleTypes{...F${at + 1}}}`).join('')} fragment F40 on __Type{name}`,
  'all types under many names': `{__schema{${repeatUnit('', (at) => `t${at}:types{fields{args{type{name}}}}`, '', 90)}}}`,
};
