import type { Kernel } from '#kernel/boot';
import { findNearestName } from '../plugins/workers/library.ts';
import { findAbsentSetting } from './absent-settings.ts';

/** Warns about each setting whose name nearly is the name of a declared one: probably a typing error. */
export function warnOfMisspelledSettings({ log, settings }: Pick<Kernel, 'log' | 'settings'>): void {
  const declared = settings.declared().map(({ name }) => name);
  for (const { name, meant } of findMisspelledSettingNames(Object.keys(settings.source), declared)) {
    log.warn({ owner: 'kernel' }, `unknown setting ${name}: did you mean ${meant}?`);
  }
}

/** Warns about each setting that services of this kind usually have, and this one has not: it has no effect. */
export function warnOfAbsentSettings({ log, settings }: Pick<Kernel, 'log' | 'settings'>): void {
  for (const name of Object.keys(settings.source)) {
    const absent = settings.source[name] ? findAbsentSetting(name) : undefined;
    if (absent) log.warn({ owner: 'kernel' }, `the setting ${name} has no effect: ${absent.reason}`);
  }
}

/** Finds names that are one or two keystrokes away from a declared one and begin with the same letter. */
export function findMisspelledSettingNames(
  present: readonly string[],
  declared: readonly string[],
): readonly { name: string; meant: string }[] {
  const known = new Set(declared.flatMap((name) => [name, `${name}_FILE`]));
  return present
    .filter((name) => name.length >= 6 && !known.has(name))
    .flatMap((name) => {
      const alike = declared.filter((other) => other[0] === name[0]);
      const meant = findNearestName(name, alike, name.length >= 9 ? 2 : 1);
      return meant ? [{ name, meant }] : [];
    });
}
