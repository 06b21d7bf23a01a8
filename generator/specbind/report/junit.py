"""JUnit's XML, for CI systems that show test results: a test case for each change, which fails when it breaks."""

from __future__ import annotations

import re
from xml.etree import ElementTree as xml

from specbind.diff.finding import Comparison, Finding, Verdict
from specbind.report.words import place, side, summary

# what XML 1.0 cannot carry, not even escaped
FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(comparison: Comparison) -> str:
    """One suite. Its first case is the comparison as such, so that one without changes is not an empty suite."""
    suite = xml.Element("testsuite", name="specbind diff")
    whole = case(suite, "comparison", f"{side(comparison.old)} -> {side(comparison.new)}")
    xml.SubElement(whole, "system-out").text = clean(f"{comparison.verdict.label}: {summary(comparison)}")
    for finding in comparison.findings:
        result(case(suite, finding.rule, finding.item), finding)
    for error in comparison.errors:
        xml.SubElement(case(suite, "waiver", error), "error", message=clean(error))
    tags = [child.tag for each in suite for child in each]
    suite.set("tests", str(len(suite)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(tags.count(tag)))
    document = xml.Element("testsuites")
    document.append(suite)
    xml.indent(document)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{xml.tostring(document, encoding="unicode")}\n'


def case(suite: xml.Element, rule: str, name: str) -> xml.Element:
    return xml.SubElement(suite, "testcase", classname=f"abi.{rule}", name=clean(name))


def result(test: xml.Element, finding: Finding) -> None:
    """A break is a failure, a waived one is skipped, anything else passes and says what it is."""
    if finding.waiver:
        waiver = finding.waiver
        xml.SubElement(test, "skipped", message=clean(f"waived by {waiver.owner} until {waiver.expires}: {waiver.reason}"))
    elif finding.verdict >= Verdict.SOURCE:
        failure = xml.SubElement(test, "failure", type=finding.verdict.label, message=clean(finding.message))
        failure.text = clean(facts(finding))
    else:
        xml.SubElement(test, "system-out").text = clean(f"{finding.verdict.label}: {finding.message}")


def facts(finding: Finding) -> str:
    lines = {"old": finding.old, "new": finding.new, "at": place(finding.span), "only on": ", ".join(finding.targets)}
    return "\n".join(f"{name}: {value}" for name, value in lines.items() if value)


def clean(text: str) -> str:
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
