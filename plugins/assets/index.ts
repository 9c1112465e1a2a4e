import { definePlugin } from '#kernel';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register() {},
});
