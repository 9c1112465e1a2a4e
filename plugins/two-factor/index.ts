import { commands, definePlugin } from '#kernel';
import { activity } from '../activity/contract.ts';
import { authSteps, signInAttempts } from '../auth/contract.ts';
import '../database/contract.ts';
import type { ServiceClass } from '../extensions-full/contract.ts';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { systemCollections } from '../schema/contract.ts';
import { secrets } from '../secrets/contract.ts';
import { settings } from '../settings/contract.ts';
import { createSecondFactorChanges } from './changes.ts';
import { createCodeCheck } from './code-check.ts';
import { twoFactorCollections } from './collections.ts';
import { enrolledRoutes } from './enrolled-routes.ts';
import { createSecondFactorEnrollment } from './enrollment.ts';
import { enrollmentRoutes } from './enrollment-routes.ts';
import { createOwnAccountReader } from './own-account.ts';
import manifest from './package.json' with { type: 'json' };
import { createResetCommand } from './reset-command.ts';
import { createSecondFactorStore } from './second-factors.ts';
import { createSecondFactorEncryption } from './secret-encryption.ts';
import { tfaServiceClass } from './service-class.ts';
import { createSecondFactorStep } from './sign-in-step.ts';

export default definePlugin({
  manifest,
  register(host) {
    const { db, log } = host;
    const used = host.use({ activity, attempts: signInAttempts, items, secrets, settings });
    for (const collection of twoFactorCollections) host.contribute(systemCollections, collection);

    const store = createSecondFactorStore(db);
    const encryption = createSecondFactorEncryption(db, used.secrets);
    const codes = createCodeCheck({ ...used, store, encryption, log });
    const changes = createSecondFactorChanges({ ...used, db, store });
    const accounts = createOwnAccountReader({ ...used, store });
    const enrollment = createSecondFactorEnrollment({ ...used, store, encryption, changes });
    const parts = { ...used, store, encryption, codes, changes, enrollment, readOwnAccount: accounts.ofRequest };
    host.contribute(authSteps, createSecondFactorStep(codes));
    for (const route of [...enrollmentRoutes(parts), ...enrolledRoutes(parts)]) host.contribute(routes, route);
    host.contribute<ServiceClass>(
      'extensions.services',
      tfaServiceClass({ accounts, store, codes, changes, enrollment }),
    );

    const systemCaller = () => host.asSystem('an operator resets the second factor of a user by the command line');
    host.contribute(commands, createResetCommand({ store, changes, systemCaller }));
  },
});
