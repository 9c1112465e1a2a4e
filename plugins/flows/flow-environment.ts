/**
 * `$env` of a run: the variables of the environment that FLOWS_ENV_ALLOW_LIST names, and no others. They are read by name, since an
 * operator may allow any.
 */
export const readFlowEnvironment = (names: readonly string[]): Readonly<Record<string, string>> =>
  Object.freeze(
    Object.fromEntries(
      names.flatMap((name) => {
        const value = process.env[name];
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  );
