/**
 * Creates the check of LOG_HTTP_IGNORE_PATHS: whole paths, or beginnings of paths that end in `*`. Undefined without any, so that no
 * request pays for it.
 */
export function createIgnoredPathCheck(paths: readonly string[]): ((path: string) => boolean) | undefined {
  if (paths.length === 0) return undefined;
  const whole = new Set(paths.filter((path) => !path.endsWith('*')));
  const beginnings = paths.filter((path) => path.endsWith('*')).map((path) => path.slice(0, -1));
  return (path) => whole.has(path) || beginnings.some((beginning) => path.startsWith(beginning));
}
