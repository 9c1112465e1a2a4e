const PART = '[a-z0-9][a-z0-9._~-]*';
const CANONICAL = new RegExp(`^(?:(?:@(${PART})/)?service-extension-|@(service)/extension-)(${PART})$`);
const LONGEST = 255;

/** The scope, if any, and the local name of a package that may own settings; undefined for any other name. */
export function parseSettingsOwnerName(name: string): readonly string[] | undefined {
  if (name.length > LONGEST) return undefined;
  const found = CANONICAL.exec(name);
  return found ? found.slice(1).filter((part) => part !== undefined) : undefined;
}

const segment = (text: string): string =>
  text
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_|_$/g, '');

/** The environment variable of a secret (conventions, "Config-sourced secrets"). Only the log shows it. */
export function toSecretEnvironmentVariableName(name: string, key: string): string | undefined {
  const parts = parseSettingsOwnerName(name);
  return parts && ['SERVICE_EXT', ...parts.map(segment), segment(key)].join('_');
}

/** A name as it is written in a manifest, made safe for one line. */
export const toDisplayName = (name: string): string => name.replace(/[\p{C}\u2028\u2029]/gu, '?').slice(0, LONGEST);
