import { definePlugin } from '#kernel';
import { bus } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import { extensionStatusControl, requiredPackageGuards } from '../extensions/contract.ts';
import { createEventRefusals } from './event-refusals.ts';
import { extensionRequirementsMigration } from './migrations.ts';
import manifest from './package.json' with { type: 'json' };
import {
  createRequiredPackageGuard,
  type ExtensionsRequiredConfig,
  type SafeModeConfig,
} from './required-package-guard.ts';
import { createRequirementStore } from './store.ts';

export default definePlugin<ExtensionsRequiredConfig, SafeModeConfig>({
  manifest,
  register(host) {
    const { config, db, log, events } = host;
    const used = host.use({ bus, loader: extensionStatusControl });
    host.contribute(migrations, extensionRequirementsMigration(db));
    host.contribute(
      requiredPackageGuards,
      createRequiredPackageGuard({
        config,
        store: createRequirementStore(db),
        refusals: createEventRefusals(events),
        bus: used.bus,
        log,
      }),
    );
  },
});
