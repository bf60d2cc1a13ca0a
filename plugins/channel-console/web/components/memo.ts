import { Component, type ComponentType, type FunctionComponent, h } from "preact";

/** Renders again only when a prop changed. Views are mutable, so pass changing values as separate props. */
export function memo<Props extends object>(inner: FunctionComponent<Props>): ComponentType<Props> {
  return class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const before = this.props as Readonly<Record<string, unknown>>;
      const after = next as Readonly<Record<string, unknown>>;
      for (const name in after) if (name !== "children" && after[name] !== before[name]) return true;
      for (const name in before) if (!(name in after)) return true;
      return false;
    }

    override render(props: Props) {
      return h(inner as FunctionComponent<object>, props);
    }
  };
}
