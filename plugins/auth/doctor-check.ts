import type { DoctorCheck } from '../doctor/contract.ts';
import { SHORT_SECRET } from './agreed-secrets.ts';

/** Whether the secret of access tokens is one that is kept apart from the database, and long enough. */
export const createAuthDoctorCheck = (secret: string | undefined): DoctorCheck => ({
  name: 'auth',
  async run() {
    if (secret === undefined)
      return [
        {
          status: 'warn',
          text: 'SECRET is unset: the database keeps the secret that signs access tokens, and so do its backups',
          remedy: `set SECRET to ${SHORT_SECRET} random characters or more, and keep it apart from backups`,
        },
      ];
    if (secret.length < SHORT_SECRET)
      return [
        {
          status: 'warn',
          text: `SECRET has ${secret.length} characters`,
          remedy: `set it to ${SHORT_SECRET} random characters or more; SECRET_PREVIOUS keeps sessions alive`,
        },
      ];
    return [{ status: 'ok', text: 'SECRET is set' }];
  },
});
