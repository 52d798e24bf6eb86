"""Writes chat.json: chat templates, and what `transformers` (5.24.0, with jinja2 3.1.6) makes of them.

    python3 chat.py FOLDER        FOLDER has SmolLM2-135M-Instruct.Q4_1.gguf, which ci/fetch-models.sh fetches

Of that model's template only the renderings are recorded. It needs the packages `transformers` and `gguf`; the tests need
neither: the file is committed.
"""

import json
import pathlib
import sys

from gguf import GGUFReader
from transformers.utils.chat_template_utils import render_jinja_template

SMOLLM = "SmolLM2-135M-Instruct.Q4_1.gguf"

TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}

CONVERSATIONS = {
    "none": [],
    "one": [{"role": "user", "content": "Hello!"}],
    "system": [
        {"role": "system", "content": "  You are terse.\n"},
        {"role": "user", "content": "Who are you?"},
    ],
    "long": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": " What is 2 < 3 & \"true\"?\n\nSay why. "},
        {"role": "assistant", "content": "<think>2 is less.</think>Ja, 世界 🦀 — yes."},
        {"role": "user", "content": "It's fine\tthen.\\n"},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": "{{ 1 + 1 }} {% raw %} <|im_end|>"},
    ],
    "two of the user": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}],
    "tool": [{"role": "user", "content": "x"}, {"role": "tool", "content": "y"}],
}

TEMPLATES = {
    "lines": """{%- for message in messages %}
    {{- '<|' + message['role'] + '|>\\n' + message['content'] | trim + eos_token + '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|assistant|>\\n' }}
{%- endif %}
""",
    "blocks take their lines away": """{% for message in messages %}
  {% if message.role == 'user' %}
U: {{ message.content }}
  {% elif message.role == 'assistant' %}
A: {{ message.content }}
  {% else %}
    S: {{ message.content }}
  {% endif %}
{% endfor %}
{# a comment #}
{% if add_generation_prompt %}
A:{% endif %}


""",
    "system first, then turns that alternate": """{{- bos_token -}}
{%- if messages and messages[0]['role'] == 'system' -%}
    {%- set first = messages[0]['content'] | trim + '\\n\\n' -%}
    {%- set rest = messages[1:] -%}
{%- else -%}
    {%- set first = '' -%}
    {%- set rest = messages -%}
{%- endif -%}
{%- for message in rest -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{- raise_exception('Roles must alternate: ' ~ message.role ~ ' is number ' ~ loop.index) -}}
    {%- endif -%}
    {%- set role = 'model' if message['role'] == 'assistant' else message['role'] -%}
    {{- '<turn>' + role + '\\n' + (first if loop.first else '') -}}
    {%- if message['content'] is string -%}
        {{- message['content'] | trim -}}
    {%- elif message['content'] is iterable -%}
        {{- message['content'] | length -}}
    {%- endif -%}
    {{- '</turn>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<turn>model\\n' -}}{%- endif -%}""",
    "state that outlives a loop": """{%- set ns = namespace(last=-1, users=0, found=false) -%}
{%- for message in messages -%}
    {%- if message.role == 'user' -%}{%- set ns.users = ns.users + 1 -%}{%- set ns.last = loop.index0 -%}{%- endif -%}
{%- endfor -%}
{{- ns.users }} {{ ns.last }} {{ ns.found -}}
{%- for message in messages[::-1] -%}
    {%- set index = (messages | length - 1) - loop.index0 -%}
    {%- if index > ns.last -%}{%- continue -%}{%- endif -%}
    {{- ' ' ~ index ~ ':' ~ message.role -}}
    {%- if loop.index >= 3 -%}{%- break -%}{%- endif -%}
{%- endfor -%}""",
    "methods of Python": """{%- for message in messages -%}
{%- set content = message.content -%}
{{- content.strip() ~ '|' ~ content.lstrip('\\n ') ~ '|' ~ content.rstrip() ~ '|' ~ content.upper() ~ '|' ~ content.capitalize() }}
{%- if '</think>' in content %}
{{ content.split('</think>')[-1].lstrip('\\n') ~ '/' ~ content.split('</think>')[0].split('<think>')[-1] }}
{%- endif %}
{{ content.startswith('<think>') }} {{ content.endswith('.') }} {{ content.find('e') }} {{ content.replace('e', '_') }}
{{ message.get('name', 'nobody') }} {{ message.get('role') }}
{% for key, value in message.items() %}{{ key }}={{ value | length }};{% endfor %}
{{ content.split() | length }} {{ content[:5] }} {{ content[-1:] }} {{ content | replace(' ', '') | lower }}
{%- endfor -%}""",
    "JSON": """{{ messages | tojson }}
{{ messages | tojson(indent=2) }}
{{ {'a': [1, 2.5, true, none, 'ü<>&"\\\\'], 'b': {}} | tojson }}
{{ [] | tojson(indent=4) }}{{ 'é' | tojson }}""",
    "values": """{{ true }} {{ false }} {{ none }} {{ 1 }} {{ 1.5 }} {{ 7 // 2 }} {{ 7 / 2 }} {{ 7 % 3 }} {{ 2 ** 10 }}
{{ undefined_one }}|{{ undefined_one is defined }} {{ tools is none }} {{ tools is defined and tools is not none }}
{{ undefined_one | default('d') }} {{ '' or 'x' }} {{ 'a' ~ 1 ~ none }} {{ not messages }}
{{ ['a', 'b'] | join(', ') }} {{ [3, 1, 2] | sort | first }} {{ 'abc' | length }} {{ 'ab' * 2 }} {{ range(3) | list | last }}
{{ 'a' in 'abc' }} {{ 'x' not in ['x'] }} {{ 1 is number }} {{ {} is mapping }} {{ 'a,b'.split(',') | join(';') }}
{{ messages | selectattr('role', 'equalto', 'user') | list | length }} {{ messages | map(attribute='role') | join('-') }}
{{ messages | rejectattr('role', 'equalto', 'user') | list | length }} {{ 'x' if false }}
{{ none is iterable }} {{ 'a' is iterable }} {{ [] is iterable }} {{ 1 is iterable }} {{ tools is iterable }}""",
    "macros": """{%- macro turn(role, content='', end='\\n') -%}
<{{ role }}>{{ content }}{{ end }}
{%- endmacro -%}
{%- for message in messages -%}
{{ turn(message.role, message.content) }}
{%- endfor -%}
{%- set all -%}
{{ turn('system') }}{{ turn(role='x', end='.') }}
{%- endset -%}
{{ all | trim }}""",
    "tags for training": """{% for message in messages %}
{% if message.role == 'assistant' %}
{% generation %}
{{ message.content }}{{ eos_token }}
{% endgeneration %}
{% else %}
{{ message.content }}
{%- generation -%} x {%- endgeneration -%}
{% endif %}
{% endfor %}""",
    "neighbours": """{%- for message in messages -%}
{%- if loop.previtem is defined and loop.previtem.role == message.role -%}{{ raise_exception('twice ' + message.role) }}{%- endif -%}
{%- if loop.last -%}[{{ message.role }}]{%- else -%}{{ loop.index }}/{{ loop.length }} {%- endif -%}
{%- else -%}
nobody spoke
{%- endfor -%}""",
}


def render(template, messages, add_generation_prompt):
    """The prompt, or the words of the template's exception."""
    try:
        prompts, _ = render_jinja_template(
            conversations=[messages], chat_template=template, add_generation_prompt=add_generation_prompt, **TOKENS
        )
        return {"text": prompts[0]}
    except Exception as error:  # the classes differ by what the template did
        return {"error": str(error)}


def renderings(template):
    return [
        {"conversation": name, "add_generation_prompt": prompt, **render(template, messages, prompt)}
        for name, messages in CONVERSATIONS.items()
        for prompt in (False, True)
    ]


fields = GGUFReader(pathlib.Path(sys.argv[1]) / SMOLLM).fields
recorded = {
    "tokens": TOKENS,
    "conversations": CONVERSATIONS,
    "templates": [
        {"name": name, "template": template, "renderings": renderings(template)} for name, template in TEMPLATES.items()
    ],
    "smollm": renderings(fields["tokenizer.chat_template"].contents()),
}
text = json.dumps(recorded, ensure_ascii=True, indent=1)
(pathlib.Path(__file__).parent / "chat.json").write_text(text + "\n")
