/** Prints a generated password once, on standard output and not in the log. */
export function printFirstAdminPassword({
  email,
  password,
}: {
  readonly email: string;
  readonly password: string;
}): void {
  const lines = [
    'The first admin was created. This password is shown once:',
    '',
    `  e-mail    ${email}`,
    `  password  ${password}`,
  ];
  const rule = '-'.repeat(Math.max(...lines.map(({ length }) => length)));
  process.stdout.write(`\n${[rule, ...lines, rule].join('\n')}\n\n`);
}
