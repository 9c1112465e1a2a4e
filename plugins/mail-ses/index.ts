import { definePlugin } from '#kernel';
import { mailTransports } from '../mail/contract.ts';
import manifest from './package.json' with { type: 'json' };
import { parseSesSettings, type SesConfig } from './settings.ts';
import { createSesTransport } from './transport.ts';

export default definePlugin<SesConfig>({
  manifest,
  register({ config, contribute }) {
    contribute(mailTransports, { name: 'ses', open: () => createSesTransport(parseSesSettings(config)) });
  },
});
