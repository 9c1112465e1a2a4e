import type { Log } from '#kernel';
import type { SettingsReader } from '../extension-settings/contract.ts';
import { createEmitter, type Emitter } from './emitter.ts';
import { type Exceptions, exceptions } from './exceptions.ts';
import type { ExtensionRuntime, QueryBuilder } from './extension-runtime.ts';
import type { PlainSchema } from './plain-schema.ts';
import { createExtensionContextServices, type ExtensionContextServices } from './services/index.ts';

/** The context of code with full authority (specification, "Custom endpoint extensions"): exactly these members. */
export interface FullAuthorityContext {
  readonly services: ExtensionContextServices;
  readonly exceptions: Exceptions;
  readonly database: QueryBuilder;
  /** The options name a connection and are ignored, since there is only one. */
  getSchema(options?: unknown): Promise<PlainSchema>;
  readonly env: Readonly<Record<string, unknown>>;
  readonly logger: Log;
  readonly emitter: Emitter;
  readonly extensionSettings: SettingsReader;
}

export const createFullAuthorityContext = (runtime: ExtensionRuntime): FullAuthorityContext => ({
  services: createExtensionContextServices(runtime),
  exceptions,
  get database() {
    return runtime.database;
  },
  getSchema: () => runtime.schema(),
  env: runtime.env,
  logger: runtime.log,
  emitter: createEmitter(runtime),
  extensionSettings: runtime.settings,
});
