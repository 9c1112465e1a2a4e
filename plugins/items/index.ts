import { capabilities, definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import { activity } from '../activity/contract.ts';
import '../database/contract.ts';
import { remoteMethods } from '../broker/contract.ts';
import { routes } from '../http/contract.ts';
import { passwords } from '../passwords/contract.ts';
import { query } from '../query/contract.ts';
import { schema } from '../schema/contract.ts';
import { itemsCapability, itemsRemoteMethods } from './capability/capability.ts';
import { reservedFilesCapability, reservedSchemaCapability } from './capability/reserved-capabilities.ts';
import { type ItemsEngine, items, referenceRemoval } from './contract.ts';
import type { ItemsEngineDeps } from './deps.ts';
import manifest from './package.json' with { type: 'json' };
import { createItemPermissionsReader } from './read/item-permissions.ts';
import { createItemReads } from './read/read.ts';
import { itemRoutes } from './routes.ts';
import { createReferenceRemoval } from './write/clear-incoming-references.ts';
import { createItemImports } from './write/import.ts';
import { createRowMove } from './write/move-row.ts';
import { createStatementCache } from './write/statement-cache.ts';
import { createItemWrites } from './write/write.ts';

interface Config {
  MAX_BATCH_MUTATION: number;
  /** Milliseconds; 0 is no limit. */
  WRITE_TIMEOUT: number;
}

export default definePlugin<Config>({
  manifest,
  register(host) {
    const used = host.use({ access, activity, query, schema, passwords });
    const deps: ItemsEngineDeps = {
      ...used,
      db: host.db,
      statements: createStatementCache(),
      events: host.events,
      hash: used.passwords.hash,
      systemCaller: () => host.asSystem('a write names rows its caller may change but not read'),
      timeout: host.config.WRITE_TIMEOUT,
      maxMutations: host.config.MAX_BATCH_MUTATION === -1 ? Number.POSITIVE_INFINITY : host.config.MAX_BATCH_MUTATION,
    };
    const reads = createItemReads(deps);
    const service: ItemsEngine = {
      ...reads,
      itemPermissions: createItemPermissionsReader(deps),
      ...createItemWrites(deps, reads.writtenRow),
      ...createRowMove(deps),
      ...createItemImports(deps),
    };
    host.provide(items, service);
    host.contribute(remoteMethods, itemsRemoteMethods);
    host.provide(referenceRemoval, createReferenceRemoval(deps));
    for (const one of [itemsCapability(deps, reads), reservedFilesCapability, reservedSchemaCapability])
      host.contribute(capabilities, one);
    for (const route of itemRoutes(service, reads, used)) host.contribute(routes, route);
  },
});
