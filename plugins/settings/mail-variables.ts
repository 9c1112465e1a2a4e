import type { MailVariables } from '../mail/contract.ts';
import type { SettingsService } from './contract.ts';

/** Colors that need no quoting inside of a style: `#rrggbb` and names. */
const COLOR = /^(?:#[0-9a-f]{3,8}|[a-z]+)$/i;

/** How the project looks, for the templates of mail. A setting without a value leaves the default of the templates. */
export const createProjectMailVariables = ({ current }: Pick<SettingsService, 'current'>): MailVariables => ({
  async read({ projectUrl }) {
    const { project_name, project_color, project_logo } = await current();
    return {
      projectName: project_name,
      ...(project_color !== null && COLOR.test(project_color) ? { projectColor: project_color } : {}),
      ...(project_logo !== null && projectUrl !== null ? { projectLogo: `${projectUrl}/assets/${project_logo}` } : {}),
    };
  },
});
