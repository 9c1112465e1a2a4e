/** Parses a snapshot document, whose JSON or YAML is read already. @throws INVALID_PAYLOAD */
export { parseSnapshot } from './snapshot/parse-snapshot.ts';
