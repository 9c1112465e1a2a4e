import type { DoctorCheck } from '../doctor/contract.ts';

/** Whether stored secrets are encrypted with a key that the database does not have. */
export const createSecretsDoctorCheck = (key: string | undefined): DoctorCheck => ({
  name: 'secrets',
  run: async () =>
    key === undefined
      ? [
          {
            status: 'warn',
            text: 'SECRETS_ENCRYPTION_KEY is unset: secrets of extensions cannot be stored, and those of flows are not encrypted',
            remedy: 'set it to the base64 of 32 random bytes (openssl rand -base64 32), and keep it apart from backups',
          },
        ]
      : [{ status: 'ok', text: 'SECRETS_ENCRYPTION_KEY is set' }],
});
