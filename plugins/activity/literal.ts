/** Text as an SQL literal: for names out of the schema overview, which are the same each time a statement runs. */
export const literal = (text: string): string => {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes('\\') ? ` e${quoted.replaceAll('\\', '\\\\')}` : quoted;
};
