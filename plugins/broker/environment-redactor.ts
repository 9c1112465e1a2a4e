/** Minimum length of a redacted value: shorter values are no secrets, and are part of many words. */
const SHORTEST = 8;

/** Replaces values of the environment in texts that clients read (conventions, "Reason detail redaction"). */
export function createEnvironmentRedactor(
  environment: Readonly<Record<string, string | undefined>>,
): (text: string) => string {
  const values = [...new Set(Object.values(environment))]
    .filter((value): value is string => value !== undefined && value.length >= SHORTEST)
    .sort((a, b) => b.length - a.length);
  return (text) => values.reduce((clean, value) => clean.replaceAll(value, '<redacted>'), text);
}
