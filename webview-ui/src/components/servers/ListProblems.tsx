import { visible } from "../../lib/visible.ts";
import { Icon } from "../ui/Icon.tsx";

export interface ListProblemsProps {
  readonly problems: readonly string[];
}

/** The odd things in a server's list, and the items that are left out for them. */
export function ListProblems({ problems }: ListProblemsProps) {
  if (problems.length === 0) return null;
  return (
    <ul className="list-problems">
      {problems.map((problem) => (
        <li key={problem}>
          <Icon name="warning" /> {visible(problem)}
        </li>
      ))}
    </ul>
  );
}
