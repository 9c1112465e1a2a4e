import { BootFailure, definePlugin } from '#kernel';
import { mailTransports } from '../mail/contract.ts';
import manifest from './package.json' with { type: 'json' };
import { parseSesSettings, type SesConfig } from './settings.ts';
import { createSesTransport } from './transport.ts';

export default definePlugin<SesConfig>({
  manifest,
  register({ config, contribute }) {
    const { EMAIL_SES_REGION: region } = config;
    // Settings that contradict each other stop the start also where another transport is used.
    const settings = region === undefined ? undefined : parseSesSettings(region, config);
    contribute(mailTransports, {
      name: 'ses',
      open() {
        if (settings) return createSesTransport(settings);
        const remedy = 'set EMAIL_SES_REGION, such as eu-central-1';
        throw new BootFailure('@tenon/mail-ses', 'config', 'EMAIL_TRANSPORT is ses, and EMAIL_SES_REGION is unset', {
          remedy,
        });
      },
    });
  },
});
