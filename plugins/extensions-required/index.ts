import { definePlugin } from '#kernel';
import { bus } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import { extensionLoader, requirements } from '../extensions/contract.ts';
import { extensionRequirements } from './migrations.ts';
import manifest from './package.json' with { type: 'json' };
import { createRefusals } from './refusals.ts';
import { createRequired, type OwnConfig, type SharedConfig } from './required.ts';
import { createRequirements } from './store.ts';

export default definePlugin<OwnConfig, SharedConfig>({
  manifest,
  register(host) {
    const { config, db, log, events } = host;
    const used = host.use({ bus, loader: extensionLoader });
    host.contribute(migrations, extensionRequirements(db));
    host.contribute(
      requirements,
      createRequired({ config, store: createRequirements(db), refusals: createRefusals(events), bus: used.bus, log }),
    );
  },
});
