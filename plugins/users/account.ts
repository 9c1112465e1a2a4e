/** The one time a made-up password is seen: on standard output, not in the log. */
export function showAccount({ email, password }: { readonly email: string; readonly password: string }): void {
  const lines = [
    'The first admin was made. This password is shown once:',
    '',
    `  e-mail    ${email}`,
    `  password  ${password}`,
  ];
  const rule = '-'.repeat(Math.max(...lines.map(({ length }) => length)));
  process.stdout.write(`\n${[rule, ...lines, rule].join('\n')}\n\n`);
}
