import type { Resource, ResourceTemplate } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useMemo, useState } from "react";
import { size } from "../../lib/format.ts";
import { visible } from "../../lib/visible.ts";
import { messageOf } from "../../link/client.ts";
import { Refusal } from "../ui/Refusal.tsx";
import { ServerIcon } from "../ui/ServerIcon.tsx";
import { useStart } from "../ui/useStart.ts";
import { Filter, fewItems, ItemChoice, matches } from "./ItemChoice.tsx";
import type { CompleteArgument, PaneProps } from "./paneProps.ts";
import { RequestForm } from "./RequestForm.tsx";
import { expandTemplate, templateFields } from "./uriTemplate.ts";

export interface ResourcePaneProps extends PaneProps {
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplate[];
  /** The chosen URI template. */
  readonly uriTemplate: string | undefined;
  readonly onChoose: (uriTemplate: string) => void;
  /** Undefined while the server cannot be asked. */
  readonly complete: CompleteArgument | undefined;
}

/** A server's resources, each with a button to read it, and its resource templates. */
export function ResourcePane(props: ResourcePaneProps) {
  const { resources, templates, uriTemplate, onChoose, ...rest } = props;
  const template = templates.find((candidate) => candidate.uriTemplate === uriTemplate);
  return (
    <>
      {resources.length > 0 && <Resources resources={resources} {...rest} />}
      {templates.length > 0 && (
        <ItemChoice
          serverName={rest.serverName}
          kind="template"
          items={templates}
          chosen={template}
          onChoose={(item) => onChoose(item.uriTemplate)}
        />
      )}
      {template !== undefined && (
        <TemplateForm
          key={JSON.stringify([rest.serverName, template.uriTemplate])}
          template={template}
          {...rest}
        />
      )}
    </>
  );
}

/** More than this renders on demand. */
const maxDrawn = 50;

function Resources(props: PaneProps & { readonly resources: readonly Resource[] }) {
  const { serverName, resources, disabled, onRun } = props;
  const [filter, setFilter] = useState("");
  const [all, setAll] = useState(false);
  const { busy, refusal, start } = useStart((uri: string) =>
    onRun({ type: "resources/read", uri }),
  );
  const found = resources.filter(({ uri, name, title }) => matches(filter, uri, name, title));
  const shown = all ? found : found.slice(0, maxDrawn);
  return (
    <div className="resource-list">
      {resources.length > fewItems && (
        <Filter kind="resource" count={resources.length} filter={filter} onFilter={setFilter} />
      )}
      {refusal !== undefined && <Refusal message={messageOf(refusal)} />}
      <ul aria-label={l10n.t("Resources")}>
        {shown.map((resource, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two may have the same URI.
          <li key={index}>
            <button
              type="button"
              className="resource-option"
              title={l10n.t("Read this resource")}
              disabled={disabled || busy}
              onClick={() => start(resource.uri)}
            >
              <ResourceLine {...{ serverName, resource }} />
            </button>
          </li>
        ))}
      </ul>
      {shown.length < found.length && (
        <button type="button" className="link" onClick={() => setAll(true)}>
          {l10n.t("Show all {0}", found.length.toLocaleString())}
        </button>
      )}
    </div>
  );
}

function ResourceLine({
  serverName,
  resource,
}: {
  readonly serverName: string;
  readonly resource: Resource;
}) {
  const { uri, name, title, description, mimeType, size: length } = resource;
  const details = [mimeType ?? "", length === undefined ? "" : size(length)];
  return (
    <>
      <span className="name resource-title">
        <ServerIcon {...{ serverName }} list="resources" item={uri} />
        {visible(title || name)}
      </span>{" "}
      <span className="name muted">{visible(uri)}</span>{" "}
      <span className="muted">{details.filter((text) => text !== "").join(", ")}</span>{" "}
      {description !== undefined && description !== "" && (
        <span className="name muted resource-description">{visible(description)}</span>
      )}
    </>
  );
}

interface TemplateFormProps extends PaneProps {
  readonly template: ResourceTemplate;
  readonly complete: CompleteArgument | undefined;
}

function TemplateForm({ serverName, template, disabled, complete, onRun }: TemplateFormProps) {
  const { uriTemplate, description, mimeType } = template;
  const fields = useMemo(() => templateFields(template), [template]);
  return (
    <>
      <p className="muted">
        <span className="name">{uriTemplate}</span>
        {mimeType !== undefined && mimeType !== "" && `, ${mimeType}`}
      </p>
      <RequestForm
        draftKey={`template:${JSON.stringify([serverName, uriTemplate])}`}
        description={description}
        fields={fields}
        verb={l10n.t("Read")}
        disabled={disabled}
        complete={
          complete && ((argument, signal) => complete({ uriTemplate, ...argument }, signal))
        }
        onRun={(content) =>
          onRun({
            type: "resources/read",
            // Every field is a text, and so is its value.
            uri: expandTemplate(template, content as Readonly<Record<string, string>>),
          })
        }
      />
    </>
  );
}
