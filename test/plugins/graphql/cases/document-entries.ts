/**
 * The selection of a document, field by field, each with the path of its value in the answer of REST. Both the text of
 * the document and the expected answer are derived from this tree.
 */
export type GraphqlSelectionEntry =
  /** `__typename`: the only field when no other is readable. */
  | { readonly kind: 'typename'; readonly key: string; readonly type: string }
  | {
      readonly kind: 'column';
      readonly key: string;
      readonly field: string;
      readonly args?: GraphqlArguments;
      /** Path of the value in a row of REST: one key, or two inside an object. */
      readonly from: readonly string[];
      /** How GraphQL renders the value unlike REST: `text` for an `ID`, `number` for a `Float`. */
      readonly as?: 'text' | 'number';
    }
  /** `<field>_func`: REST answers its members in the row itself. */
  | {
      readonly kind: 'functions';
      readonly key: string;
      readonly field: string;
      readonly of: readonly GraphqlSelectionEntry[];
    }
  /** `group`: REST answers its members in the row itself, and the document names no fields of it. */
  | {
      readonly kind: 'groups';
      readonly key: string;
      readonly field: string;
      readonly of: readonly GraphqlSelectionEntry[];
    }
  /** A relation with selected fields: the row behind a many-to-one, or a list of rows. */
  | {
      readonly kind: 'rows';
      readonly key: string;
      readonly field: string;
      readonly args?: GraphqlArguments;
      readonly from: readonly string[];
      readonly of: readonly GraphqlSelectionEntry[];
    }
  /** A relation without selected fields, for which REST answers bare keys. */
  | {
      readonly kind: 'keys';
      readonly key: string;
      readonly field: string;
      readonly args?: GraphqlArguments;
      readonly from: readonly string[];
      readonly primary: string;
    }
  /** A many-to-any, by collection. `unasked`: keys of the rows of collections without selected fields. */
  | {
      readonly kind: 'any';
      readonly key: string;
      readonly field: string;
      readonly from: readonly string[];
      readonly of: ReadonlyMap<string, readonly GraphqlSelectionEntry[]>;
      readonly unasked: ReadonlySet<string>;
    };

export type GraphqlArguments = Readonly<Record<string, unknown>>;

/** An argument value that is sent as a variable. */
export class GraphqlVariableValue {
  readonly type: string;
  readonly value: unknown;

  constructor(type: string, value: unknown) {
    this.type = type;
    this.value = value;
  }
}

/** Thrown for a REST query that GraphQL cannot express. */
export class InexpressibleInGraphqlError extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

export const isGraphqlName = (name: string): boolean => /^[_A-Za-z]\w*$/.test(name) && !name.startsWith('__');

/** A root field with its selection. */
export interface DocumentRootField {
  readonly key?: string;
  readonly field: string;
  readonly args?: GraphqlArguments;
  /** Selection of the root field; absent for a field without subfields. */
  readonly of?: readonly GraphqlSelectionEntry[];
}

export interface DocumentRequest {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export function renderGraphqlDocument(
  operation: 'query' | 'mutation',
  roots: readonly DocumentRootField[],
): DocumentRequest {
  const found = new Map<GraphqlVariableValue, string>();
  const fields = roots.map(({ key, field, args, of }) => {
    const called = key === undefined || key === field ? field : `${key}: ${field}`;
    return `${called}${renderArguments(args, found)}${of ? renderBlock(of, found) : ''}`;
  });
  const declared = [...found].map(([{ type }, name]) => `$${name}: ${type}`);
  return {
    text: `${operation}${declared.length > 0 ? ` (${declared.join(', ')})` : ''} { ${fields.join(' ')} }`,
    variables: Object.fromEntries([...found].map(([{ value }, name]) => [name, value])),
  };
}

type DeclaredVariables = Map<GraphqlVariableValue, string>;

const renderBlock = (entries: readonly GraphqlSelectionEntry[], found: DeclaredVariables): string =>
  ` { ${entries.map((entry) => renderEntry(entry, found)).join(' ')} }`;

function renderEntry(entry: GraphqlSelectionEntry, found: DeclaredVariables): string {
  if (entry.kind === 'typename') return entry.key === '__typename' ? '__typename' : `${entry.key}: __typename`;
  const called = entry.key === entry.field ? entry.field : `${entry.key}: ${entry.field}`;
  const head = 'args' in entry ? `${called}${renderArguments(entry.args, found)}` : called;
  switch (entry.kind) {
    case 'column':
    case 'groups':
      return head;
    case 'functions':
    case 'rows':
      return `${head}${renderBlock(entry.of, found)}`;
    case 'keys':
      return `${head} { ${entry.primary} }`;
    case 'any': {
      return `${head} { ${[...entry.of].map(([type, of]) => `... on ${type}${renderBlock(of, found)}`).join(' ')} }`;
    }
  }
}

function renderArguments(args: GraphqlArguments | undefined, found: DeclaredVariables): string {
  const present = Object.entries(args ?? {}).filter(([, value]) => value !== undefined);
  if (present.length === 0) return '';
  return `(${present.map(([name, value]) => `${name}: ${renderLiteral(value, found)}`).join(', ')})`;
}

function renderLiteral(value: unknown, found: DeclaredVariables): string {
  if (value instanceof GraphqlVariableValue) {
    const name = found.get(value) ?? `v${found.size + 1}`;
    found.set(value, name);
    return `$${name}`;
  }
  if (Array.isArray(value)) return `[${value.map((one) => renderLiteral(one, found)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, one]) => {
    if (!isGraphqlName(name)) throw new InexpressibleInGraphqlError('a name that is no GraphQL name');
    return `${name}: ${renderLiteral(one, found)}`;
  });
  return `{ ${fields.join(', ')} }`;
}
