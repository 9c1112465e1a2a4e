import type { SchemaSnapshotDocument } from '../contract.ts';

/** A snapshot as YAML, without line folding, so that a changed text is one changed line. */
export async function renderYaml(document: SchemaSnapshotDocument): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(document, { schema: 'core', lineWidth: 0, aliasDuplicateObjects: false });
}

/** A snapshot as JSON, a member a line. */
export const renderJson = (document: SchemaSnapshotDocument): string => `${JSON.stringify(document, null, 2)}\n`;
