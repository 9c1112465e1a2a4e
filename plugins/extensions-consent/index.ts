import { type ContributionTo, definePlugin } from '#kernel';
import { activity } from '../activity/contract.ts';
import { broker } from '../broker/contract.ts';
import { migrations } from '../database/contract.ts';
import { extensionSettings } from '../extension-settings/contract.ts';
import { consentDeciders, extensionStatusControl } from '../extensions/contract.ts';
import { routes } from '../http/contract.ts';
import type { sharedSettings } from '../processes/contract.ts';
import { createAdminPackageConsent } from './consent.ts';
import { extensionGrantLocationsMigration, extensionGrantsMigration } from './migrations.ts';
import manifest from './package.json' with { type: 'json' };
import type { ConsentConfig } from './requests-beyond-consent.ts';
import { createConsentRoutes } from './routes.ts';

export default definePlugin<ConsentConfig>({
  manifest,
  register(host) {
    const { config, db, log } = host;
    const used = host.use({ activity, subjects: broker, settings: extensionSettings, loader: extensionStatusControl });
    const consent = createAdminPackageConsent({ ...used, config, db, log });
    host.contribute(consentDeciders, consent);
    host.contribute<ContributionTo<typeof sharedSettings>>('processes.settings', {
      name: 'EXTENSIONS_CONSENT',
      values: () => [config.EXTENSIONS_CONSENT],
      consequence: 'one process may load a package that waits for consent in the other',
    });
    for (const route of createConsentRoutes(consent)) host.contribute(routes, route);
    for (const migration of [extensionGrantsMigration, extensionGrantLocationsMigration])
      host.contribute(migrations, migration(db));
  },
});
