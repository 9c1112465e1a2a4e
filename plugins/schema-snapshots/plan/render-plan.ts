import type { Difference, EntryDiff, PartEntryDiff } from '../contract.ts';
import { SNAPSHOT_PARTS } from '../contract.ts';
import type { SchemaPlan } from './build-plan.ts';

const SIGNS = { N: '+', D: '-', E: '~', A: '~' } as const;

/** The plan as text for people. */
export function renderPlan(plan: SchemaPlan): string {
  const { diff, renames = [] } = plan;
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ['GRANTS FAR-REACHING RIGHTS', plan.adminGrants.map((line) => `! ${line}`)],
    [
      'Changes',
      [
        ...renames.map(({ collection, from, to }) => `> field ${collection}.${from} is renamed to ${to}`),
        ...diff.collections.flatMap((entry) => renderEntry('collection', entry)),
        ...diff.fields.flatMap((entry) => renderEntry('field', entry)),
        ...diff.systemFields.flatMap((entry) => renderEntry('field', entry)),
        ...diff.relations.flatMap((entry) => renderEntry('relation', entry)),
        ...SNAPSHOT_PARTS.flatMap((part) => (diff[part] ?? []).flatMap((entry) => renderPartEntry(part, entry))),
      ],
    ],
    ['Statements', plan.statements.map((statement) => `${statement};`)],
    [
      'Rows that are deleted',
      plan.affectedRows.map(({ name, rows }) => `${name}: ${rows} ${name.includes('.') ? 'values' : 'rows'}`),
    ],
    [
      'Changes of types',
      plan.conversions.map(
        ({ collection, field, from, to, rows, failing }) =>
          `${collection}.${field}: ${from} to ${to}, ${rows} values, of which ${failing} do not convert`,
      ),
    ],
    ['Names that are used elsewhere', plan.references.map(({ name, by }) => `${name}: ${by}`)],
    [
      'These may be renames, which keep the data',
      plan.possibleRenames.map(({ collection, from, to }) => `--rename ${collection}.${from}=${collection}.${to}`),
    ],
    ['Secrets that have to be entered by hand', plan.missingSecrets],
    [
      'Would still differ: change it by SQL',
      [...plan.rest.collections, ...plan.rest.fields, ...plan.rest.relations].flatMap((entry) =>
        renderEntry(entry.field === undefined ? 'collection' : 'field', entry),
      ),
    ],
    ['Needs a permission by name', plan.drops.map((name) => `--allow-drop ${name}`)],
    ['CANNOT BE APPLIED', plan.failure === null ? [] : [plan.failure]],
  ];
  return sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`)
    .join('\n');
}

function renderEntry(what: string, { collection, field, diff }: EntryDiff): readonly string[] {
  return renderDifferences(`${what} ${field === undefined ? collection : `${collection}.${field}`}`, diff);
}

const renderPartEntry = (part: string, { id, diff }: PartEntryDiff): readonly string[] =>
  renderDifferences(`${part}:${id}`, diff);

function renderDifferences(name: string, differences: readonly Difference[]): readonly string[] {
  const [first] = differences;
  if (first && first.path === undefined) return [`${SIGNS[first.kind]} ${name}`];
  return [`~ ${name}`, ...differences.map((one) => `    ${renderDifference(one)}`)];
}

function renderDifference({ kind, path = [], lhs, rhs, index, item }: Difference): string {
  if (kind === 'A' && item) return renderDifference({ ...item, path: [...path, index ?? 0] });
  const name = path.join('.');
  if (kind === 'N') return `${name}: ${renderValue(rhs)}`;
  return kind === 'D'
    ? `${name}: ${renderValue(lhs)} is removed`
    : `${name}: ${renderValue(lhs)} → ${renderValue(rhs)}`;
}

function renderValue(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}
