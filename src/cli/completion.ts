import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import { loadConfig } from "../host/config/load.ts";
import { example, loadOptionsOf } from "./globals.ts";
import { commandFlags, commandNames } from "./main.ts";
import { show } from "./screen.ts";

/** `venturi completion SHELL`: a completion script. Agent names are looked up at completion time. */
export function configure(command: Command): void {
  command
    .argument("<shell>", "bash, zsh or fish")
    .addHelpText(
      "after",
      example("source <(venturi completion bash)", "venturi completion fish > ~/.config/fish/completions/venturi.fish"),
    )
    .action(async (shell: string) => {
      if (shell === "agents") {
        const { agents } = await loadConfig(loadOptionsOf(command));
        show(process.stdout, `${Object.keys(agents).join("\n")}\n`);
        return;
      }
      const script = scripts[shell];
      if (script === undefined) {
        throw new VenturiError("cli.completion", "invalid_input", `"${shell}" is not known; bash, zsh and fish are`);
      }
      show(process.stdout, script(commandNames.join(" "), await commandFlags()));
    });
}

const globals = "--config --set --help";

const bash = (names: string, flags: Flags): string => `_venturi() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  case "$before" in
    run|chat) COMPREPLY=($(compgen -W "$(venturi completion agents 2>/dev/null)" -- "$word")) ;;
    --config) COMPREPLY=($(compgen -f -- "$word")) ;;
    completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$word")) ;;
    *)
      local called="" each flags=""
      for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case " ${names} " in *" $each "*) called="$each"; break ;; esac
      done
      case "$called" in
${[...flags].map(([name, own]) => `        ${name}) flags="${own.join(" ")}" ;;`).join("\n")}
        *) flags="${names}" ;;
      esac
      COMPREPLY=($(compgen -W "$flags ${globals}" -- "$word")) ;;
  esac
}
complete -o default -F _venturi venturi
`;

type Flags = ReadonlyMap<string, readonly string[]>;

const scripts: Readonly<Record<string, (names: string, flags: Flags) => string>> = {
  bash,
  zsh: (names, flags) => `autoload -U +X bashcompinit && bashcompinit\n${bash(names, flags)}`,
  fish: (names, flags) => `complete -c venturi -f -n __fish_use_subcommand -a "${names}"
complete -c venturi -f -n "__fish_seen_subcommand_from run chat" -a "(venturi completion agents 2>/dev/null)"
complete -c venturi -f -n "__fish_seen_subcommand_from completion" -a "bash zsh fish"
complete -c venturi -l config -r
${[...flags].flatMap(([name, own]) => own.filter((flag) => flag.startsWith("--")).map((flag) => `complete -c venturi -n "__fish_seen_subcommand_from ${name}" -l ${flag.slice(2)}`)).join("\n")}
`,
};
