import { quoteIdentifier } from '../../database/library.ts';

/** The name of a table as `StatementSources.tables` has it. */
export const quoteTableName = ({ schema, name }: { readonly schema: string; readonly name: string }): string =>
  `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
