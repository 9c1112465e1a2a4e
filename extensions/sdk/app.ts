/** Members of every extension for the admin app. Further members depend on its type. */
interface AppConfig {
  readonly id: string;
  readonly name: string;
  readonly icon?: string;
  readonly [member: string]: unknown;
}

type WithComponent = AppConfig & { readonly component: unknown };

const same = <Config>(config: Config): Config => config;

export const defineInterface: <Config extends WithComponent>(config: Config) => Config = same;
export const defineDisplay: <Config extends WithComponent>(config: Config) => Config = same;
export const defineLayout: <Config extends WithComponent>(config: Config) => Config = same;
export const definePanel: <Config extends WithComponent>(config: Config) => Config = same;
export const defineModule: <Config extends AppConfig & { readonly routes: readonly unknown[] }>(
  config: Config,
) => Config = same;
export const defineItemView: <Config extends AppConfig>(config: Config) => Config = same;
/** Defines the part of a flow operation that runs in the admin app. `id` joins it with the server part. */
export const defineOperationApp: <Config extends AppConfig>(config: Config) => Config = same;
